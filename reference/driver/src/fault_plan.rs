//! The fault plan: the calls and kernels that fail, and with which error.

use allocert_contract::trace::cuda::Function;
use thiserror::Error;

use crate::error::CudaError;

/// Rules that make calls fail, written as a comma-separated list:
///
/// - `cuMemAlloc_v2@3=2`: the third call answers 2; `@3+`: the third and all later ones; `@3x2`:
///   the third and the fourth.
/// - `kernel:NAME=700`: the kernel of that name fails when it runs, as a faulting kernel does.
#[derive(Clone, Debug, Default)]
pub struct FaultPlan {
    calls: Vec<CallRule>,
    kernels: Vec<(String, CudaError)>,
}

#[derive(Clone, Debug)]
struct CallRule {
    function: Function,
    /// Calls still to let through.
    before: u64,
    /// Calls to fail after that.
    count: u64,
    result: CudaError,
}

#[derive(Debug, Error, PartialEq)]
pub enum FaultError {
    #[error(
        "`{0}`: expected FUNCTION@N=RESULT, FUNCTION@N+=RESULT, FUNCTION@NxCOUNT=RESULT or \
         kernel:NAME=RESULT"
    )]
    Shape(String),
    #[error("`{rule}`: the software driver has no `{function}`{}", suggestion(function))]
    Function { rule: String, function: String },
    #[error("`{rule}`: `{result}` is no CUresult other than 0")]
    Result { rule: String, result: String },
}

fn suggestion(name: &str) -> String {
    let newest = Function::all()
        .filter(|function| function.base_name() == name)
        .max_by_key(|function| function.introduced());
    newest.map_or(String::new(), |function| format!("; did you mean `{function}`?"))
}

impl FaultPlan {
    pub fn parse(text: &str) -> Result<Self, FaultError> {
        let mut plan = Self::default();
        for rule in text.split(',').map(str::trim).filter(|rule| !rule.is_empty()) {
            plan.parse_rule(rule)?;
        }
        Ok(plan)
    }

    fn parse_rule(&mut self, rule: &str) -> Result<(), FaultError> {
        let shape = || FaultError::Shape(rule.to_owned());
        let (what, result) = rule.split_once('=').ok_or_else(shape)?;
        let result = result.parse().ok().and_then(CudaError::from_code).ok_or_else(|| {
            FaultError::Result { rule: rule.to_owned(), result: result.to_owned() }
        })?;
        if let Some(kernel) = what.strip_prefix("kernel:") {
            self.kernels.push((kernel.to_owned(), result));
            return Ok(());
        }
        let (name, when) = what.split_once('@').ok_or_else(shape)?;
        let function =
            Function::by_name(name).filter(|function| function.implemented()).ok_or_else(|| {
                FaultError::Function { rule: rule.to_owned(), function: name.to_owned() }
            })?;
        let (nth, count) = match (when.strip_suffix('+'), when.split_once('x')) {
            (Some(nth), _) => (nth, Some(0)),
            (None, Some((nth, count))) => (nth, count.parse().ok().filter(|count| *count > 0)),
            (None, None) => (when, Some(1)),
        };
        let nth = nth.parse().ok().filter(|nth| *nth > 0).ok_or_else(shape)?;
        self.add(function, nth, count.ok_or_else(shape)?, result);
        Ok(())
    }

    /// Makes `count` calls of `function` (0: all) fail, starting with the `nth` from now (1: the
    /// next).
    pub fn add(&mut self, function: Function, nth: u64, count: u64, result: CudaError) {
        let count = if count == 0 { u64::MAX } else { count };
        self.calls.push(CallRule { function, before: nth.saturating_sub(1), count, result });
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Drops the rules about calls and keeps those about kernels.
    pub fn forget_calls(&mut self) {
        self.calls.clear();
    }

    pub fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// The error that this call must answer, if any. Counts the call in every rule.
    #[inline]
    pub fn on_call(&mut self, function: Function) -> Option<CudaError> {
        if self.calls.is_empty() { None } else { self.count_call(function) }
    }

    fn count_call(&mut self, function: Function) -> Option<CudaError> {
        let mut hit = None;
        for rule in self.calls.iter_mut().filter(|rule| rule.function == function) {
            if rule.before > 0 {
                rule.before -= 1;
            } else if rule.count > 0 {
                rule.count -= u64::from(rule.count != u64::MAX);
                hit = hit.or(Some(rule.result));
            }
        }
        hit
    }

    /// How the kernel called `name` fails, if it does.
    pub fn on_kernel(&self, name: &str) -> Option<CudaError> {
        self.kernels.iter().find(|(kernel, _)| kernel == name).map(|(_, result)| *result)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("cuMemAlloc_v2@3=2", [0, 0, 2, 0, 0])]
    #[case("cuMemAlloc_v2@3+=2", [0, 0, 2, 2, 2])]
    #[case("cuMemAlloc_v2@2x2=2", [0, 2, 2, 0, 0])]
    #[case("cuMemAlloc_v2@1=2, cuMemAlloc_v2@3=700", [2, 0, 700, 0, 0])]
    #[case("cuMemFree_v2@1+=1", [0, 0, 0, 0, 0])]
    fn rules_count_calls(#[case] text: &str, #[case] expected: [i32; 5]) {
        let mut plan = FaultPlan::parse(text).expect("well formed");
        assert_eq!(
            expected.map(|_| plan.on_call(Function::cuMemAlloc_v2).map_or(0, CudaError::code)),
            expected
        );
    }

    #[test]
    fn a_kernel_fails_by_name() {
        let plan = FaultPlan::parse("kernel:bad=700").expect("well formed");
        assert_eq!(plan.on_kernel("bad"), Some(CudaError::ILLEGAL_ADDRESS));
        assert_eq!(plan.on_kernel("good"), None);
    }

    #[rstest]
    #[case("cuMemAlloc_v2=2")]
    #[case("cuMemAlloc_v2@0=2")]
    #[case("cuMemAlloc_v2@1x0=2")]
    #[case("cuMemAlloc_v2@1=0")]
    #[case("cuMemAlloc_v2@1=12345")]
    fn nonsense_is_refused(#[case] text: &str) {
        assert!(FaultPlan::parse(text).is_err());
    }
}
