//! Checks the name, the requirements and the expectations of a fixture.

use std::collections::{BTreeMap, BTreeSet};

use allocert_contract::trace::Boundary;
use allocert_requirements::yaml::{Document, suggestion};
use allocert_requirements::{Catalogue, Refusal, RefusalCode, Side};
use smol_str::SmolStr;

use crate::call_name;
use crate::expectation::{Calls, Expectation, Ordered, Wanted};
use crate::fact_names;
use crate::fixture_format::{Case, Step};

use crate::interface::interface;
use crate::nouns::Need;

type Checked = Result<(), Box<Refusal>>;

/// Everything but the names that steps bind.
pub(crate) fn check(case: &Case, document: &Document<'_>, catalogue: &Catalogue) -> Checked {
    check_head(case, document)?;
    let side = case.side();
    let boundaries = interface(side).map_or(&[][..], |interface| interface.facts.boundaries);
    let needs = &case.needs;
    let mut labels = BTreeSet::new();
    for step in &case.steps {
        let line = step.line();
        if let Some(label) = &step.value.label
            && !labels.insert(label.as_str())
        {
            return Err(document.refuse_word(
                RefusalCode::DuplicateName,
                line,
                label,
                format!("label `{label}` is given twice"),
            ));
        }
        check_step(
            &step.value,
            line,
            &Context { side, boundaries, needs, labels: &labels, document, catalogue },
        )?;
    }
    let context = Context { side, boundaries, needs, labels: &labels, document, catalogue };
    let finally = document.find(1, "finally").map_or(1, |(line, _)| line);
    for (id, expectation) in &case.r#finally {
        check_requirement(id, finally, &context)?;
        let only_calls = Expectation { calls: expectation.calls.clone(), ..Expectation::default() };
        if *expectation != only_calls || expectation.calls.is_none() {
            return Err(document.refuse_word(
                RefusalCode::InvalidExpectation,
                finally,
                id,
                "`finally` expects `calls` and nothing else",
            ));
        }
        check_expectation(id, expectation, finally, &context)?;
    }
    if case.r#finally.is_empty() && case.steps.iter().all(|step| step.value.expect.is_empty()) {
        return Err(document.refuse_word(
            RefusalCode::NothingExpected,
            1,
            "steps",
            "the case expects nothing: no step has `expect`, and there is no `finally`",
        ));
    }
    Ok(())
}

fn check_head(case: &Case, document: &Document<'_>) -> Checked {
    let stem = document.file.strip_suffix(".yaml").unwrap_or(document.file);
    let expected = stem.split_once('/').map_or(stem, |(_, name)| name);
    if case.case != expected {
        let message = format!("the case is called `{}`, its file `{expected}`", case.case);
        return Err(document.refuse_word(RefusalCode::WrongCaseName, 1, &case.case, message));
    }
    if case.about.trim().is_empty() {
        return Err(document.refuse_word(
            RefusalCode::EmptyField,
            1,
            "about",
            "`about` says nothing",
        ));
    }
    if case.timeout_s == 0 {
        return Err(document.refuse_word(
            RefusalCode::EmptyField,
            1,
            "timeout_s",
            "`timeout_s` leaves no time",
        ));
    }
    Ok(())
}

/// What an expectation is read against.
struct Context<'a> {
    side: Side,
    /// Other than CUDA, of which `calls` may speak.
    boundaries: &'a [Boundary],
    needs: &'a [Need],
    /// Of this and all earlier steps.
    labels: &'a BTreeSet<&'a str>,
    document: &'a Document<'a>,
    catalogue: &'a Catalogue,
}

fn check_step(step: &Step, line: usize, context: &Context<'_>) -> Checked {
    step.r#do.arguments().valid.map_err(|invalid| invalid.refuse(context.document, line))?;
    let required = step.r#do.properties().requires;
    if let Some(need) = required.filter(|need| !context.needs.contains(need)) {
        let name = step.r#do.name();
        let message = format!("`{name}` requires `{need}`: write `needs: [{need}]`");
        return Err(context.document.refuse_word(RefusalCode::MissingNeed, line, name, message));
    }
    for (id, expectation) in &step.expect {
        check_requirement(id, line, context)?;
        check_expectation(id, expectation, line, context)?;
        let own = expectation
            .ordered
            .as_ref()
            .filter(|ordered| step.label.as_ref() == Some(&ordered.after));
        if let Some(Ordered { after }) = own {
            let message = format!("`{after}` is the label of this step, not of an earlier one");
            return Err(context.document.refuse_word(
                RefusalCode::UnknownLabel,
                line,
                after,
                message,
            ));
        }
    }
    Ok(())
}

fn check_requirement(id: &str, line: usize, context: &Context<'_>) -> Checked {
    if let Some(requirement) = context.catalogue.get(id) {
        let bound = requirement.side();
        if let Some(contract) = context
            .catalogue
            .contract_of(requirement)
            .filter(|_| !context.needs.contains(&Need::Table))
        {
            let message = format!(
                "{id} is of {}, which binds C tables alone: write `needs: [table]`",
                contract.name
            );
            return Err(context.document.refuse_word(RefusalCode::MissingNeed, line, id, message));
        }
        if bound == Some(context.side) {
            return Ok(());
        }
        let message = format!(
            "{id} binds {}, and this is a case of {}",
            bound.map_or("no side", Side::name),
            context.side
        );
        return Err(context.document.refuse_word(RefusalCode::WrongSide, line, id, message));
    }
    let mut refusal = context.document.refuse_word(
        RefusalCode::UnknownRequirement,
        line,
        id,
        format!("the catalogue has no requirement `{id}`"),
    );
    refusal.help = context.catalogue.suggestion(id);
    Err(refusal)
}

fn check_expectation(
    id: &str,
    expectation: &Expectation,
    line: usize,
    context: &Context<'_>,
) -> Checked {
    let refuse = |code, word: &str, message: String| {
        Err(context.document.refuse_word(code, line, word, message))
    };
    if expectation.is_empty() {
        return refuse(RefusalCode::NothingExpected, id, format!("{id} expects nothing"));
    }
    if expectation.raises.as_ref().is_some_and(Vec::is_empty) {
        return refuse(
            RefusalCode::NothingExpected,
            "raises",
            "`raises` lists no kind of error".to_owned(),
        );
    }
    if expectation.message.is_some() && expectation.raises.is_none() {
        return refuse(
            RefusalCode::InvalidExpectation,
            "message",
            "`message` without `raises`".to_owned(),
        );
    }
    if let Some(returns) = &expectation.returns {
        check_facts(returns, line, context.document)?;
    }
    check_facts(&expectation.given, line, context.document)?;
    if let Some(fact) = expectation.given.keys().find(|fact| !fact.contains('.')) {
        return refuse(
            RefusalCode::InvalidExpectation,
            fact,
            format!("what is `given` is `name.fact`, not `{fact}`"),
        );
    }
    if let Some(Ordered { after }) = &expectation.ordered {
        check_label(after, line, context)?;
    }
    let stream = expectation.covered_by.as_ref().and_then(|covered| covered.stream.as_deref());
    if let Some(stream) = stream.filter(|stream| !stream.contains('.')) {
        return refuse(
            RefusalCode::InvalidExpectation,
            stream,
            format!("the stream of `covered_by` is `name.fact`, not `{stream}`"),
        );
    }
    match &expectation.calls {
        Some(calls) => check_calls(calls, line, context),
        None => Ok(()),
    }
}

fn check_facts(facts: &Wanted, line: usize, document: &Document<'_>) -> Checked {
    let refuse =
        |code, word: &str, message: String| Err(document.refuse_word(code, line, word, message));
    for (fact, predicate) in facts {
        if predicate.0.is_empty() {
            return refuse(
                RefusalCode::NothingExpected,
                fact,
                format!("nothing is asked of `{fact}`"),
            );
        }
        for (test, value) in &predicate.0 {
            if let Some(complaint) = test.complaint(value) {
                return refuse(
                    RefusalCode::WrongPredicate,
                    fact,
                    format!("this predicate of `{fact}` takes {complaint}, not {value}"),
                );
            }
        }
    }
    Ok(())
}

fn check_calls(calls: &Calls, line: usize, context: &Context<'_>) -> Checked {
    let Calls {
        none_of,
        count,
        at_least,
        at_most,
        in_order,
        balanced,
        open,
        kept,
        with,
        only,
        since,
        own: _,
    } = calls;
    let counted = [count, at_least, at_most, kept].into_iter().flat_map(BTreeMap::keys);
    let paired = balanced.iter().chain(open).flat_map(|(done, undone)| [done, undone]);
    let single = in_order.iter().chain(counted).chain(paired).map(String::as_str);
    let named = none_of.iter().map(SmolStr::as_str).chain(single);
    let mut names = named.flat_map(call_name::alternatives).peekable();
    if names.peek().is_none() && with.is_empty() {
        return Err(context.document.refuse_word(
            RefusalCode::NothingExpected,
            line,
            "calls",
            "`calls` asks nothing",
        ));
    }
    let other = context.boundaries;
    for name in names {
        if let Some(unknown) = call_name::unknown_function(name, other) {
            return Err(unknown.refuse(context.document, line));
        }
    }
    let with = with.iter().map(|entry| ("with", entry));
    for (field, (name, facts)) in with.chain(only.iter().map(|entry| ("only", entry))) {
        if !call_name::is_of(name, other) {
            let message = format!(
                "`{field}` is for calls into a plugin, and `{name}` is no such call on the side {}",
                context.side
            );
            return Err(context.document.refuse_word(
                RefusalCode::UnknownFunction,
                line,
                name,
                message,
            ));
        }
        if facts.is_empty() {
            return Err(context.document.refuse_word(
                RefusalCode::NothingExpected,
                line,
                name,
                format!("nothing is asked of the calls of `{name}`"),
            ));
        }
        check_facts(facts, line, context.document)?;
        check_names(name, facts, line, context)?;
    }
    since.as_ref().map_or(Ok(()), |label| check_label(label, line, context))
}

/// Each function that has the name has the facts that are asked of its calls.
fn check_names(name: &str, facts: &Wanted, line: usize, context: &Context<'_>) -> Checked {
    for function in call_name::functions(name, context.boundaries) {
        let (known, owner) = (fact_names::of_calls(function), format!("a call of `{function}`"));
        let mut paths = facts.keys();
        paths
            .try_for_each(|path| fact_names::check(path, &known, path, &owner))
            .map_err(|unknown| unknown.refuse(context.document, line))?;
    }
    Ok(())
}

fn check_label(label: &str, line: usize, context: &Context<'_>) -> Checked {
    if context.labels.contains(label) {
        return Ok(());
    }
    let mut refusal = context.document.refuse_word(
        RefusalCode::UnknownLabel,
        line,
        label,
        format!("no earlier step has the label `{label}`"),
    );
    refusal.help = suggestion(label, context.labels.iter().copied());
    Err(refusal)
}
