//! Credentials: whatever is wrong with a kubeconfig, a plugin, an address or a proxy, what is said of it names none of them.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::run::{podreach, scratch};

fn kubeconfig(cluster: &Value, user: &Value) -> String {
    json!({"apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]})
    .to_string()
}

/// A credential plugin that prints something and ends.
fn plugin(name: &str, prints: &str, status: i32) -> Value {
    let file = scratch(name);
    std::fs::write(&file, format!("#!/bin/sh\necho '{prints}'\necho hunter2 >&2\nexit {status}\n")).expect("a file");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a program");
    json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": file, "args": ["--secret=hunter2"],
        "env": [{"name": "P", "value": "hunter2"}], "interactiveMode": "Never"}})
}

/// Kubeconfigs that cannot be used, each with a password in it.
fn broken() -> Vec<(&'static str, String)> {
    let nowhere = json!({"server": "http://127.0.0.1:1"});
    let of_user = |user: &Value| kubeconfig(&nowhere, user);
    let credential = |token: &str| {
        json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": token}).to_string()
    };
    vec![
        ("a list for a token", "users: [{name: u, user: {token: [hunter2]}}]".to_owned()),
        ("a text for users", "users: hunter2".to_owned()),
        ("a key twice", "users: []\ntoken: hunter2\ntoken: hunter2\nusers: []".to_owned()),
        ("no end", "users: [{name: u, user: {token: 'hunter2".to_owned()),
        ("a tab", "users:\n\t- {token: hunter2}".to_owned()),
        ("an alias", "users: [{name: u, user: {token: *hunter2}}]".to_owned()),
        ("a number for a name", "current-context: {token: hunter2}".to_owned()),
        ("no YAML", "hunter2".to_owned()),
        ("a plugin that fails", of_user(&plugin("fails", &credential("hunter2"), 1))),
        ("a plugin that says nonsense", of_user(&plugin("nonsense", &credential("hunter2"), 0))),
        ("a plugin that says something else", of_user(&plugin("else", "[hunter2", 0))),
        ("a token that is none", of_user(&json!({"token": "hunter2\n"}))),
        ("a password that is none", of_user(&json!({"username": "u", "password": "hunter2\n"}))),
        ("a key that is none", of_user(&json!({"client-key-data": "hunter2", "client-certificate-data": "hunter2"}))),
        ("a provider", of_user(&json!({"auth-provider": {"name": "x", "config": {"access-token": "hunter2"}}}))),
        ("an authority that is none", {
            kubeconfig(&json!({"server": "https://127.0.0.1:1", "certificate-authority-data": "hunter2"}), &json!({}))
        }),
        (
            "a server with a password",
            kubeconfig(&json!({"server": "http://u:hunter2@127.0.0.1:1/?t=hunter2"}), &json!({})),
        ),
        ("a server that is none", kubeconfig(&json!({"server": "http://u:hunter2@ 127.0.0.1"}), &json!({}))),
        ("a proxy with a password", {
            kubeconfig(
                &json!({"server": "http://127.0.0.1:1", "proxy-url": "socks9://u:hunter2@127.0.0.1:1"}),
                &json!({}),
            )
        }),
        ("another proxy", {
            kubeconfig(
                &json!({"server": "http://127.0.0.1:1", "proxy-url": "http://u:hunter2@127.0.0.1:1"}),
                &json!({}),
            )
        }),
    ]
}

#[test]
fn what_is_wrong_with_credentials_is_told_without_them() {
    let verdict = scratch("verdict.json");
    let trace = json!([{"op": "deploy", "pod": "pod/default/a", "node": "n1"}]);
    let goal = json!([{"pod": "pod/default/a", "node": "n1", "count": 1}]);
    let document = json!({"apiVersion": "podreach.dev/v1alpha1", "kind": "Verdict", "verdict": "deployable",
        "question": {"semantics": "kube-scheduler", "start": "current", "goal": goal}, "trace": trace});
    std::fs::write(&verdict, document.to_string()).expect("it can be written");
    for (what, text) in broken() {
        let file = scratch("kubeconfig");
        std::fs::write(&file, text).expect("it can be written");
        for command in [&["check", "a", "n1"][..], &["snapshot", "-o", "-"], &["replay", &verdict]] {
            let ran = podreach(&[command, &["-v", "--kubeconfig", &file]].concat());
            assert_eq!(ran.exit, 2, "{what} {command:?}: {}{}", ran.out, ran.err);
            assert!(!(ran.out.clone() + &ran.err).contains("hunter2"), "{what} {command:?}: {}{}", ran.out, ran.err);
        }
    }
    for server in ["http://u:hunter2@127.0.0.1:1", "http://127.0.0.1:1?t=hunter2", "u:hunter2@:x"] {
        let ran = podreach(&["check", "a", "n1", "--server", server, "--token", "hunter2"]);
        assert_eq!(ran.exit, 2, "{server}: {}{}", ran.out, ran.err);
        assert!(!(ran.out.clone() + &ran.err).contains("hunter2"), "{server}: {}{}", ran.out, ran.err);
    }
}
