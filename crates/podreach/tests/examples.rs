//! Every example runs, and the front door opens: ask, verify, and errors that say where.

#[path = "../examples/ask.rs"]
mod ask;
#[path = "../examples/audit_in_a_test.rs"]
mod audit_in_a_test;
#[path = "../examples/custom_input.rs"]
mod custom_input;
#[path = "../examples/verify.rs"]
mod verify;

use std::error::Error;
use std::time::Duration;

use podreach::{Analysis, AskError};

const DEMO: &str = include_str!("../../../examples/demo.yaml");

#[test]
fn examples_run() -> Result<(), Box<dyn Error>> {
    ask::main()?;
    audit_in_a_test::main()?;
    custom_input::main()?;
    verify::main()
}

#[test]
fn a_question_takes_five_lines() -> Result<(), Box<dyn Error>> {
    let cluster = Analysis::from_yaml(DEMO)?;
    let answer = cluster.ask("web", "edge-1")?.within(Duration::from_secs(60)).decide();
    assert_eq!((answer.is_deployable(), answer.word()), (Some(true), "deployable"));
    assert!(answer.run().is_some_and(|run| !run.is_empty()), "{answer}");
    let never = cluster.ask("ledger", "edge-1")?.decide();
    assert_eq!((never.is_deployable(), never.run()), (Some(false), None));
    for answer in [answer, never] {
        let verified = cluster.verify(&answer.certificate())?;
        assert!(verified.len() == 1 && verified[0].is_proved(), "{verified:?}");
    }
    Ok(())
}

#[test]
fn a_certificate_about_another_answer_is_refused() -> Result<(), Box<dyn Error>> {
    let cluster = Analysis::from_yaml(DEMO)?;
    let certificate = cluster.ask("ledger", "edge-1")?.decide().certificate();
    let forged = certificate.replace("shop/ledger", "shop/web");
    assert_ne!(forged, certificate);
    assert!(cluster.verify(&forged)?.iter().all(|verified| verified.is_refused()), "web can run there");
    Ok(())
}

#[test]
fn no_time_means_unknown() -> Result<(), Box<dyn Error>> {
    let cluster = Analysis::from_yaml(include_str!("../../../examples/pyramid.yaml"))?;
    let question = cluster.lowered().questions.first().ok_or("the example asks a question")?;
    let goal = question.goal(cluster.cluster()).map_err(|refused| format!("{refused:?}"))?;
    let answer = cluster.ask_goal(podreach_core::Semantics::Paper, goal)?.within(Duration::ZERO).decide();
    assert_eq!(answer.is_deployable(), None, "{answer}");
    Ok(())
}

#[test]
fn errors_say_where_and_what() -> Result<(), Box<dyn Error>> {
    let error = Analysis::from_yaml("{apiVersion: v1, kind: Node\n---").expect_err("that is not YAML");
    assert!(error.to_string().starts_with("input:"), "{error}");
    let cluster = Analysis::from_yaml(DEMO)?;
    let error = cluster.ask("ledgr", "edge-1").map(|_| ()).expect_err("there is no such pod");
    assert!(matches!(error, AskError::Name(_)) && error.to_string().contains("did you mean"), "{error}");
    Ok(())
}
