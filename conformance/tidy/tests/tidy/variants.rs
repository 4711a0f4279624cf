//! Every freedom has a variant, and every variant uses freedoms of one side that exist.

use std::collections::BTreeSet;

use allocert_requirements::{Side, Variant, variant};

use crate::embedded::catalogue;

fn registry() -> Vec<Variant> {
    variant::embedded().unwrap_or_else(|refusal| panic!("{refusal}"))
}

#[test]
fn every_variant_uses_freedoms_of_one_side() {
    let catalogue = catalogue();
    for Variant { name, uses, profile, .. } in registry() {
        let side = |id: &String| {
            let freedom = catalogue.freedom(id);
            freedom.unwrap_or_else(|| panic!("{name}: no freedom {id}")).side()
        };
        let sides: BTreeSet<Option<Side>> = uses.iter().map(side).collect();
        assert_eq!(sides.len(), 1, "{name} uses freedoms of {sides:?}: a run is of one side");
        let known = profile.as_deref().is_none_or(|profile| catalogue.profile(profile).is_some());
        assert!(known, "{name}: no profile {profile:?}");
    }
}

#[test]
fn every_freedom_has_a_variant() {
    let catalogue = catalogue();
    let registry = registry();
    let used: BTreeSet<&String> = registry.iter().flat_map(|variant| &variant.uses).collect();
    let all = Side::all().flat_map(|side| catalogue.freedoms(side));
    let unused: Vec<&String> = all.map(|one| &one.id).filter(|id| !used.contains(id)).collect();
    assert!(unused.is_empty(), "no variant uses {unused:?}: build one in conformance/variants");
}
