//! A small API server on loopback that lists objects as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use serde_json::{Value, json};

/// Serves objects; returns the address.
pub(crate) fn serve(objects: Vec<Value>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
            let path = lines.next().and_then(|first| first.split(' ').nth(1).map(str::to_owned)).unwrap_or_default();
            lines.for_each(drop);
            let text = answer(&objects, path.split('?').next().unwrap_or_default()).to_string();
            let head = format!(
                "HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                text.len()
            );
            let mut stream = &stream;
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(text.as_bytes()));
        }
    });
    address
}

fn answer(objects: &[Value], path: &str) -> Value {
    let version = |object: &Value| object["apiVersion"].as_str().unwrap_or_default().to_owned();
    let versions: BTreeSet<String> = objects.iter().map(version).filter(|version| version.contains('/')).collect();
    let plural = |object: &Value| {
        let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
        if kind.ends_with('s') { format!("{kind}es") } else { format!("{kind}s") }
    };
    if path == "/version" {
        return json!({"gitVersion": "v1.37.1"});
    }
    if path == "/apis" {
        let mut groups = BTreeMap::<String, Vec<Value>>::new();
        for of in &versions {
            let (group, version) = of.split_once('/').unwrap_or_default();
            groups.entry(group.to_owned()).or_default().push(json!({"groupVersion": of, "version": version}));
        }
        let groups: Vec<Value> =
            groups.into_iter().map(|(name, versions)| json!({"name": name, "versions": versions})).collect();
        return json!({"groups": groups});
    }
    let path = path.trim_start_matches("/apis/").trim_start_matches("/api/");
    if versions.contains(path) {
        let of = objects.iter().filter(|object| version(object) == path);
        let resources: Vec<Value> =
            of.map(|object| json!({"name": plural(object), "kind": object["kind"], "verbs": ["list"]})).collect();
        return json!({"resources": resources});
    }
    let is_meant = |object: &&Value| path == format!("{}/{}", version(object), plural(object));
    let items: Vec<&Value> = objects.iter().filter(is_meant).collect();
    json!({"kind": "List", "metadata": {}, "items": items})
}
