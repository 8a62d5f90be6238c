//! RuntimeClass: overhead, a node selector and tolerations for the pods that name it.
//!
//! Kubernetes: `plugin/pkg/admission/runtimeclass/admission.go`.

use std::collections::BTreeMap;

use podreach_core::cluster::Toleration;
use podreach_core::label::Labels;

use crate::lower::context::Context;
use crate::lower::object::kind::Kind;
use crate::lower::object::mapping::Object;
use crate::lower::object::metadata;
use crate::lower::pod::{Content, toleration};
use crate::lower::resources::amount::{self, Amounts};
use crate::lower::schema::fields::{RUNTIME_CLASS, RUNTIME_OVERHEAD, RUNTIME_SCHEDULING};
use crate::read::Tree;

/// The RuntimeClasses of the input, by name.
#[derive(Default)]
pub(crate) struct RuntimeClasses(BTreeMap<String, RuntimeClass>);

struct RuntimeClass {
    overhead: Option<Amounts>,
    node_selector: Labels,
    tolerations: Vec<Toleration>,
}

impl RuntimeClasses {
    /// Reads an object.
    pub(crate) fn add(&mut self, cx: &mut Context, tree: &Tree<'_>) {
        let Some(object) = Object::new(tree, &RUNTIME_CLASS, &mut cx.log) else { return };
        let Some(metadata) = metadata::read(cx, Kind::RuntimeClass, &object) else { return };
        let overhead = object.object("overhead", &RUNTIME_OVERHEAD, &mut cx.log);
        let scheduling = object.object("scheduling", &RUNTIME_SCHEDULING, &mut cx.log);
        let class = RuntimeClass {
            overhead: overhead.map(|overhead| amount::read(cx, &overhead, "podFixed")),
            node_selector: scheduling.map(|scheduling| cx.labels(&scheduling, "nodeSelector")).unwrap_or_default(),
            tolerations: scheduling.map(|scheduling| toleration::read(cx, &scheduling)).unwrap_or_default(),
        };
        self.0.insert(metadata.name, class);
    }

    /// Whether all is known that a class adds to a pod.
    pub(crate) fn knows(&self, content: &Content) -> bool {
        content.runtime_class.as_ref().is_some_and(|name| self.0.contains_key(name))
    }

    /// Adds what its class adds to a pod, or says why the pod is refused.
    ///
    /// The controller of DaemonSets makes no pod for a node whose taints the template does not tolerate: it does not know what a class
    /// would add.
    pub(crate) fn complete(&self, cx: &Context, content: &mut Content, is_daemon: bool) -> Option<String> {
        let Some(name) = &content.runtime_class else {
            let own = !content.parts.overhead.is_empty();
            return own.then(|| "the API server allows overhead only where a RuntimeClass says so".to_owned());
        };
        let class = self.0.get(name)?;
        let overhead = class.overhead.clone().unwrap_or_default();
        if !content.parts.overhead.is_empty() && content.parts.overhead != overhead {
            return Some(format!("the RuntimeClass {name} has another overhead"));
        }
        content.parts.overhead = overhead;
        for (key, value) in class.node_selector.iter() {
            if content.node_selector.value(key).is_some_and(|own| own != value) {
                let key = cx.cluster.symbols.str(key);
                return Some(format!("the RuntimeClass {name} asks for another node label {key}"));
            }
            content.node_selector.set(key, value);
        }
        if !is_daemon {
            content.tolerations.extend(&class.tolerations);
        }
        None
    }
}
