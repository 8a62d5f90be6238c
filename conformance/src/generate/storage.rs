//! Storage: classes, volumes, claims and drivers, in every state in which a pod may meet them.

use serde_json::{Map, Value, json};

use super::Make;

const ZONE: &str = "topology.kubernetes.io/zone";
const DRIVERS: [&str; 2] = ["d1.csi", "d2.csi"];
const SIZES: [&str; 4] = ["1Gi", "2Gi", "3Gi", "1500M"];

impl Make<'_> {
    /// Adds storage to a document. With `settled`, no claim waits for a pod.
    pub(super) fn storage(&mut self, doc: &mut Value, nodes: usize, settled: bool) {
        let mut volumes: Vec<Value> = (0..self.rng.below(6)).map(|index| self.volume(index)).collect();
        let mut claims: Vec<Value> = (0..5).map(|index| self.claim(index, &mut volumes, nodes)).collect();
        for claim in claims.iter_mut().filter(|claim| settled && claim["status"]["phase"] == "Pending") {
            claim["spec"]["storageClassName"] = json!(self.pick(&["now", ""]));
        }
        doc["storageClasses"] = self.classes().into();
        self.ephemeral_claims(doc, &mut claims, &mut volumes);
        doc["csiNodes"] = (0..nodes).filter_map(|index| self.csi_node(index)).collect();
        doc["csiDrivers"] = DRIVERS.iter().filter_map(|name| self.driver(name)).collect();
        doc["csiStorageCapacities"] = (0..self.rng.below(3)).map(|index| self.pool(index)).collect();
        let attached = self.rng.below(3).min(volumes.len());
        doc["volumeAttachments"] = (0..attached).map(|index| self.attachment(index, &volumes, nodes)).collect();
        doc["pvs"] = volumes.into();
        doc["pvcs"] = claims.into();
    }

    fn classes(&mut self) -> Vec<Value> {
        let mut classes = Vec::new();
        for (name, provisioner, mode) in [
            ("now", "d1.csi", "Immediate"),
            ("wait", "d1.csi", "WaitForFirstConsumer"),
            ("far", "d2.csi", "WaitForFirstConsumer"),
            ("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"),
        ] {
            if self.one_in(15) {
                continue;
            }
            let mut class = json!({"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode});
            // The newest of several that are the default is.
            if self.one_in(8) {
                let made = self.pick(&["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]);
                class["metadata"]["creationTimestamp"] = json!(made);
                class["metadata"]["annotations"] = json!({"storageclass.kubernetes.io/is-default-class": "true"});
            }
            if name != "local" && self.one_in(3) {
                let key = self.pick(&[ZONE, "rack"]);
                let values = self.some(&["a", "b", "1"]);
                class["allowedTopologies"] = json!([{"matchLabelExpressions": [{"key": key, "values": values}]}]);
            }
            classes.push(class);
        }
        classes
    }

    fn volume(&mut self, index: usize) -> Value {
        let mut labels = Map::new();
        if self.one_in(3) {
            labels.insert(ZONE.into(), json!(self.pick(&["a", "b", "a__b", "c"])));
        }
        if self.one_in(8) {
            labels.insert("topology.kubernetes.io/region".into(), json!(self.pick(&["r1", "r2"])));
        }
        if self.one_in(12) {
            labels.insert("failure-domain.beta.kubernetes.io/zone".into(), json!(self.pick(&["a", "b"])));
        }
        let mut spec = json!({
            "capacity": {"storage": self.pick(&SIZES)},
            "accessModes": self.rng.pick(&[&["ReadWriteOnce"][..], &["ReadWriteOnce", "ReadWriteMany"], &["ReadWriteOncePod"]]),
            "storageClassName": self.pick(&["local", "local", "wait", "far", ""]),
        });
        if self.one_in(4) {
            spec["hostPath"] = json!({"path": "/d"});
        } else {
            // Two volumes may be the same one to their driver.
            let handle = if self.one_in(8) { "h0".to_owned() } else { format!("h{index}") };
            spec["csi"] = json!({"driver": self.pick(&DRIVERS), "volumeHandle": handle});
        }
        if self.one_in(8) {
            labels.insert("tier".into(), json!(self.pick(&["x", "y"])));
        }
        if self.one_in(12) {
            spec["volumeMode"] = json!(self.pick(&["Block", "Filesystem"]));
        }
        if self.one_in(20) {
            spec["volumeAttributesClassName"] = json!("fast");
        }
        if self.one_in(2) {
            spec["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": [self.volume_term()]}});
        }
        json!({
            "metadata": {"name": format!("pv{index}"), "labels": labels},
            "spec": spec,
            "status": {"phase": self.pick(&["Available", "Available", "Available", "Released"])},
        })
    }

    fn volume_term(&mut self) -> Value {
        let (key, values) = self.rng.pick(&[
            (ZONE, &["a"][..]),
            (ZONE, &["a", "b"]),
            ("kubernetes.io/hostname", &["n0", "n1"]),
            ("rack", &["1"]),
        ]);
        json!({"matchExpressions": [{"key": key, "operator": "In", "values": values}]})
    }

    fn claim(&mut self, index: usize, volumes: &mut [Value], nodes: usize) -> Value {
        let name = format!("c{index}");
        let mut metadata = json!({"name": name, "namespace": "default", "uid": name});
        let modes =
            self.rng.pick(&[&["ReadWriteOnce"][..], &["ReadWriteOnce"], &["ReadWriteMany"], &["ReadWriteOncePod"]]);
        let mut spec = json!({"accessModes": modes, "resources": {"requests": {"storage": self.pick(&SIZES)}}});
        let class = self.pick(&["local", "local", "wait", "wait", "far", "now", "", "unheard"]);
        if !self.one_in(15) {
            spec["storageClassName"] = json!(class);
        }
        if self.one_in(12) {
            spec["volumeMode"] = json!(self.pick(&["Block", "Filesystem"]));
        }
        if self.one_in(20) {
            spec["volumeAttributesClassName"] = json!("fast");
        }
        if self.one_in(10) {
            spec["selector"] = self.selector();
        }
        let free = volumes.iter_mut().filter(|volume| volume["spec"].get("claimRef").is_none()).nth(self.rng.below(2));
        let mut phase = "Pending";
        if let Some(volume) = free.filter(|_| self.one_in(2)) {
            volume["spec"]["claimRef"] = json!({"name": name, "namespace": "default", "uid": name});
            if !self.one_in(8) {
                volume["status"]["phase"] = json!("Bound");
                spec["volumeName"] = volume["metadata"]["name"].clone();
                spec["storageClassName"] = volume["spec"]["storageClassName"].clone();
                phase = "Bound";
                if !self.one_in(10) {
                    metadata["annotations"] = json!({"pv.kubernetes.io/bind-completed": "yes"});
                }
            }
        } else if self.one_in(15) {
            spec["volumeName"] = json!("gone");
            metadata["annotations"] = json!({"pv.kubernetes.io/bind-completed": "yes"});
            phase = self.pick(&["Bound", "Lost"]);
        } else if self.one_in(8) {
            metadata["annotations"] = json!({"volume.kubernetes.io/selected-node": self.node_name(nodes)});
        }
        if self.one_in(20) {
            metadata["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        }
        json!({"metadata": metadata, "spec": spec, "status": {"phase": phase}})
    }

    fn csi_node(&mut self, index: usize) -> Option<Value> {
        if self.one_in(6) {
            return None;
        }
        let mut drivers = Vec::new();
        for name in DRIVERS {
            if self.one_in(4) {
                continue;
            }
            let mut driver = json!({"name": name, "nodeID": "i", "topologyKeys": []});
            if !self.one_in(4) {
                driver["allocatable"] = json!({"count": self.rng.pick(&[0, 1, 1, 2, 3])});
            }
            drivers.push(driver);
        }
        Some(json!({"metadata": {"name": format!("n{index}")}, "spec": {"drivers": drivers}}))
    }

    fn driver(&mut self, name: &str) -> Option<Value> {
        if self.one_in(5) {
            return None;
        }
        let mut spec = json!({"storageCapacity": self.one_in(3)});
        if self.shape.minor >= 37 && self.one_in(6) {
            spec["preventPodSchedulingIfMissing"] = json!(true);
        }
        Some(json!({"metadata": {"name": name}, "spec": spec}))
    }

    fn pool(&mut self, index: usize) -> Value {
        let mut pool = json!({
            "metadata": {"name": format!("pool{index}"), "namespace": "default"},
            "storageClassName": self.pick(&["wait", "far"]),
            "capacity": self.pick(&["1Gi", "2Gi", "10Gi"]),
        });
        if !self.one_in(6) {
            pool["nodeTopology"] = json!({"matchLabels": {ZONE: self.pick(&["a", "b"])}});
        }
        if self.one_in(6) {
            pool["maximumVolumeSize"] = json!("1Gi");
        }
        pool
    }

    fn attachment(&mut self, index: usize, volumes: &[Value], nodes: usize) -> Value {
        let volume = &volumes[self.rng.below(volumes.len())];
        let attacher = volume["spec"]["csi"]["driver"].as_str().unwrap_or(DRIVERS[0]);
        json!({
            "metadata": {"name": format!("va{index}")},
            "spec": {
                "attacher": attacher,
                "nodeName": self.node_name(nodes),
                "source": {"persistentVolumeName": volume["metadata"]["name"]},
            },
            "status": {"attached": true},
        })
    }

    /// What a pod mounts.
    pub(super) fn mounts(&mut self) -> Vec<Value> {
        let count = self.rng.pick(&[0, 0, 0, 1, 1, 2]);
        (0..count).map(|index| self.mount(index)).collect()
    }

    fn ephemeral(&mut self) -> Value {
        let modes = self.rng.pick(&[&["ReadWriteOnce"][..], &["ReadWriteMany"], &["ReadWriteOncePod"]]);
        let class = self.pick(&["wait", "wait", "far", "now"]);
        let spec = json!({"accessModes": modes, "storageClassName": class,
            "resources": {"requests": {"storage": self.pick(&SIZES)}}});
        json!({"volumeClaimTemplate": {"spec": spec}})
    }

    fn mount(&mut self, index: usize) -> Value {
        let mut volume = Map::new();
        volume.insert("name".into(), json!(format!("v{index}")));
        let read_only = self.one_in(3);
        let (source, value) = match self.rng.below(14) {
            0 => ("gcePersistentDisk", json!({"pdName": self.pick(&["g1", "g2"]), "readOnly": read_only})),
            1 => ("awsElasticBlockStore", json!({"volumeID": self.pick(&["e1", "e2"]), "readOnly": read_only})),
            2 => {
                let portal = self.pick(&["10.0.0.1:3260", "10.0.0.2:3260"]);
                let target =
                    json!({"targetPortal": portal, "iqn": self.pick(&["iqn.2026-01.org.x:1", "iqn.2026-01.org.x:2"])});
                let mut target = target;
                target["lun"] = json!(self.rng.below(2));
                target["readOnly"] = json!(read_only);
                ("iscsi", target)
            }
            3 => {
                let monitors = self.some(&["m1", "m2"]);
                let mut image = json!({"monitors": monitors, "image": self.pick(&["i1", "i2"]), "readOnly": read_only});
                if self.one_in(2) {
                    image["pool"] = json!(self.pick(&["rbd", "q"]));
                }
                ("rbd", image)
            }
            4 => ("emptyDir", json!({})),
            5 if !self.traits.settled => ("ephemeral", self.ephemeral()),
            _ => {
                let name = if self.one_in(25) { "nope".to_owned() } else { format!("c{}", self.rng.below(5)) };
                ("persistentVolumeClaim", json!({"claimName": name}))
            }
        };
        volume.insert(source.into(), value);
        volume.into()
    }

    /// The claims that the controller of ephemeral volumes makes for pods. Those of pods that run are bound, also where their class is
    /// gone by now, or names another driver.
    fn ephemeral_claims(&mut self, doc: &Value, claims: &mut Vec<Value>, volumes: &mut Vec<Value>) {
        let pods = doc["pods"].as_array().into_iter().flatten().chain([&doc["incoming"]]);
        for pod in pods {
            for volume in pod["spec"]["volumes"].as_array().into_iter().flatten() {
                let Some(template) = volume["ephemeral"].get("volumeClaimTemplate") else { continue };
                let metadata = &pod["metadata"];
                let name = format!("{}-{}", text(&metadata["name"]), text(&volume["name"]));
                let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"],
                    "controller": true});
                let mut claim = json!({
                    "metadata": {"name": name, "namespace": metadata["namespace"], "uid": name, "ownerReferences": [owner]},
                    "spec": template["spec"],
                    "status": {"phase": "Pending"},
                });
                if pod["spec"]["nodeName"].is_string() && metadata["name"] != "x" {
                    let usual = usize::from(template["spec"]["storageClassName"] == "far");
                    let driver = if self.one_in(6) { self.pick(&DRIVERS) } else { DRIVERS[usual] };
                    volumes.push(provisioned(&mut claim, driver));
                }
                claims.push(claim);
            }
        }
    }
}

/// The volume that a driver made for a claim, which is bound to it.
fn provisioned(claim: &mut Value, driver: &str) -> Value {
    let name = format!("pv-{}", text(&claim["metadata"]["name"]));
    claim["spec"]["volumeName"] = json!(name);
    claim["status"]["phase"] = json!("Bound");
    claim["metadata"]["annotations"] = json!({"pv.kubernetes.io/bind-completed": "yes"});
    json!({
        "metadata": {"name": name},
        "spec": {
            "capacity": claim["spec"]["resources"]["requests"],
            "accessModes": claim["spec"]["accessModes"],
            "storageClassName": claim["spec"]["storageClassName"],
            "csi": {"driver": driver, "volumeHandle": name},
            "claimRef": {"name": claim["metadata"]["name"], "namespace": claim["metadata"]["namespace"],
                "uid": claim["metadata"]["uid"]},
        },
        "status": {"phase": "Bound"},
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
