//! The matrix of variants: the freedoms that a variant uses, and what the suite blames it for.

use allocert_requirements::{Catalogue, Flavor, Variant};
use allocert_suite::Side;
use allocert_suite::report::coverage;
use allocert_suite::report::variant_runs::{VariantMatrix, VariantResult, render};
use allocert_suite::run_format::Judged;

use crate::observation_builder::{Recorder, catalogue_text, memalloc, memory};

/// The test catalogue with two freedoms of the plugin.
fn catalogue() -> Catalogue {
    let freedom = |number: u8| {
        format!(
            "- id: EMM-FREEDOM-0{number}\n  role: plugin\n  statement: A plugin may differ.\n  \
             source: {{text: nbep7, section: Test}}\n"
        )
    };
    let freedoms = freedom(1) + &freedom(2);
    let files = [("emm/test.yaml", catalogue_text()), ("emm/freedoms.yaml", freedoms)];
    Catalogue::from_files(files.iter().map(|(file, text)| (*file, text.as_str())))
        .expect("written here")
}

fn variant(name: &str, uses: &str) -> Variant {
    Variant {
        name: name.to_owned(),
        flavor: Flavor::Python,
        subject: format!("variants:{name}"),
        uses: [uses.to_owned()].into(),
        profile: None,
        about: "rounds the size up".to_owned(),
    }
}

/// `size_bytes` for 64, judged by the expectation of a MUST or of a SHOULD.
fn judged(requirement: &str, size_bytes: u64) -> Judged {
    let text = format!("{{{requirement}: {{returns: {{size_bytes: {{is: 64}}}}}}}}");
    let recorder = Recorder::new(memalloc(&text)).step(&[], memory(1, size_bytes));
    let recorder = recorder.rest();
    Judged { judgement: recorder.judged(), case: recorder.case, observation: Some(recorder.seen) }
}

#[test]
fn the_matrix_shows_who_conforms_and_who_is_blamed() {
    let catalogue = catalogue();
    let (rounds, warned) =
        (variant("rounds", "EMM-FREEDOM-01"), variant("warned", "EMM-FREEDOM-01"));
    let results = [
        VariantResult::new(&rounds, &[judged("EMM-T-01", 128), judged("EMM-T-01", 256)]),
        VariantResult::new(&warned, &[judged("EMM-T-02", 128)]),
    ];
    let sides = [Side::Emm];
    let all =
        VariantMatrix { catalogue: &catalogue, sides: &sides, results: &results, whole: true };
    assert!(!all.holds());
    insta::assert_snapshot!(render(&all));
    let second = VariantMatrix { results: &results[1..], whole: false, ..all };
    assert!(second.holds(), "a SHOULD blames nobody");
    assert!(!VariantMatrix { whole: true, ..second }.holds(), "EMM-FREEDOM-02 has no variant");
}

#[test]
fn a_variant_on_which_no_case_ran_does_not_conform() {
    let unused = variant("unused", "EMM-FREEDOM-01");
    assert!(!VariantResult::new(&unused, &[]).conforms());
}

#[test]
fn coverage_counts_the_variants_of_a_freedom() {
    let variants = [variant("rounds", "EMM-FREEDOM-01")];
    let rendered = coverage::render(&catalogue(), &[Side::Emm], &[], &[], &variants);
    let count = |id: &str| {
        let row = rendered.lines().find(|line| line.starts_with(id));
        row.and_then(|row| row.split_whitespace().last()).map(str::to_owned)
    };
    assert_eq!(count("EMM-FREEDOM-01").as_deref(), Some("1"), "{rendered}");
    assert_eq!(count("EMM-FREEDOM-02").as_deref(), Some("0"), "{rendered}");
}
