//! Reads PTX, where a kernel is `.entry NAME (.param .align 8 .b8 NAME[40], .param .u64 NAME)`. PTX
//! ISA, "Kernel and Function Directives" and "Parameter State Space".

use std::{
    collections::{BTreeMap, BTreeSet},
    iter::Peekable,
};

use super::{Kernel, MAX_PARAMETER_BYTES, Parameter};

pub(super) fn kernels(text: &str) -> BTreeMap<String, Kernel> {
    let module = Module::read(text);
    let mut tokens = Tokens(text).peekable();
    let mut kernels = BTreeMap::new();
    while let Some(token) = tokens.next() {
        if token != ".entry" {
            continue;
        }
        let Some(name) = tokens.next() else { break };
        let layout = match tokens.peek() {
            Some(&"(") => layout(&mut tokens),
            _ => Some(Vec::new()),
        };
        let mut kernel = Kernel { layout: layout.map(Into::into), ..Kernel::default() };
        kernel.target = module.target.unwrap_or(kernel.target);
        kernel.constant_bytes = module.constant_bytes;
        read_directives(&mut tokens, &mut kernel);
        kernel.shared_bytes = shared_bytes_of_body(&mut tokens, &module.shared);
        kernels.insert(name.to_owned(), kernel);
    }
    kernels
}

/// What stands outside of the kernels and counts for each of them.
#[derive(Default)]
struct Module {
    /// The number of `.target sm_90a`.
    target: Option<i32>,
    constant_bytes: u64,
    /// The variables in shared memory, which those kernels have that name them.
    shared: BTreeMap<String, Variable>,
}

impl Module {
    fn read(text: &str) -> Self {
        let mut module = Self::default();
        let mut tokens = Tokens(text);
        if tokens.any(|token| token == ".target") {
            module.target = tokens.next().and_then(architecture);
        }
        for (space, name, variable) in declarations(text) {
            match space {
                ".const" => module.constant_bytes = variable.behind(module.constant_bytes),
                ".shared" => drop(module.shared.insert(name, variable)),
                _ => {}
            }
        }
        module
    }
}

/// The number of `sm_90a`.
fn architecture(target: &str) -> Option<i32> {
    target.strip_prefix("sm_")?.trim_end_matches(['a', 'f']).parse().ok()
}

/// The performance-tuning directives between the parameters and the body. PTX ISA,
/// "Performance-Tuning Directives".
fn read_directives(tokens: &mut Peekable<Tokens>, kernel: &mut Kernel) {
    while let Some(token) = tokens.next_if(|token| !matches!(*token, "{" | ";")) {
        match token {
            ".maxntid" => {
                let threads =
                    sizes(tokens).iter().try_fold(1_u32, |all, next| all.checked_mul(*next));
                kernel.most_threads = threads;
            }
            ".reqntid" => kernel.block = Some(sizes(tokens)),
            _ => {}
        }
    }
}

/// Up to three sizes with commas between them; 1 for one that is left out.
fn sizes(tokens: &mut Peekable<Tokens>) -> [u32; 3] {
    let mut sizes = [1; 3];
    for size in &mut sizes {
        let number = |token: &str| number(token).and_then(|value| u32::try_from(value).ok());
        let Some(value) = tokens.next_if(|token| number(token).is_some()).and_then(number) else {
            break;
        };
        *size = value;
        tokens.next_if_eq(&",");
    }
    sizes
}

/// The bytes of the variables in shared memory that a body declares or names, up to its end.
fn shared_bytes_of_body(
    tokens: &mut Peekable<Tokens>,
    of_module: &BTreeMap<String, Variable>,
) -> u64 {
    let (mut bytes, mut depth, mut named) = (0, 0_u64, BTreeSet::new());
    while let Some(token) = tokens.next_if(|token| depth > 0 || *token == "{") {
        match token {
            "{" => depth += 1,
            "}" => depth -= 1,
            ".shared" => {
                if let Some((_, own)) = variable(&mut tokens.clone()) {
                    bytes = own.behind(bytes);
                }
            }
            name => {
                if let Some(shared) = of_module.get(name)
                    && named.insert(name)
                {
                    bytes = shared.behind(bytes);
                }
            }
        }
    }
    bytes
}

/// The bytes of each variable of the module that a program can look up.
pub(super) fn variables(text: &str) -> BTreeMap<String, u64> {
    let found = declarations(text).into_iter();
    let found = found.filter(|(space, ..)| matches!(*space, ".global" | ".const"));
    found.map(|(_, name, variable)| (name, variable.bytes)).collect()
}

/// The variables outside of the kernels with their state spaces, in order. Each is
/// `.global .align 4 .u32 NAME[8] = {0};`. PTX ISA, "Variable Declarations". One that is not
/// understood is left out.
fn declarations(text: &str) -> Vec<(&str, String, Variable)> {
    let mut tokens = Tokens(text);
    let (mut found, mut depth) = (Vec::new(), 0_u64);
    while let Some(token) = tokens.next() {
        match token {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            ".extern" => {
                tokens.find(|token| matches!(*token, ";" | "{"));
            }
            ".global" | ".const" | ".shared" if depth == 0 => {
                let declared = variable(&mut tokens.clone());
                found.extend(declared.map(|(name, variable)| (token, name, variable)));
            }
            _ => {}
        }
    }
    found
}

/// The memory that a variable takes.
#[derive(Clone, Copy)]
struct Variable {
    bytes: u64,
    align: u64,
}

impl Variable {
    /// The end of this variable if it is laid out behind so many bytes.
    fn behind(self, bytes: u64) -> u64 {
        let start = bytes.checked_next_multiple_of(self.align).unwrap_or(u64::MAX);
        start.saturating_add(self.bytes)
    }
}

/// The name of a variable, and what it takes, behind its state space.
fn variable<'t>(tokens: &mut impl Iterator<Item = &'t str>) -> Option<(String, Variable)> {
    let (mut name, mut element, mut count, mut align) = (None, None, 1_u64, None);
    loop {
        match tokens.next()? {
            ";" | "=" => {
                let element: u64 = element?;
                let align = align.unwrap_or(element);
                return Some((name?, Variable { bytes: element.checked_mul(count)?, align }));
            }
            ".align" => {
                align = Some(number(tokens.next()?).filter(|value| value.is_power_of_two())?);
            }
            ".v2" => count *= 2,
            ".v4" => count *= 4,
            "[" => {
                count = count.checked_mul(number(tokens.next()?)?)?;
                tokens.next().filter(|token| *token == "]")?;
            }
            word if word.starts_with('.') => element = Some(bytes(word)?),
            word => name = Some(word.to_owned()),
        }
    }
}

/// The list in parentheses; `None` if it is not understood.
fn layout(tokens: &mut Peekable<Tokens>) -> Option<Vec<Parameter>> {
    tokens.next_if_eq(&"(")?;
    let mut found = Vec::new();
    let mut end = 0_u64;
    while tokens.next_if_eq(&")").is_none() {
        let Shape { align, size } = Shape::read(tokens)?;
        let offset = end.next_multiple_of(align);
        end = offset.checked_add(size).filter(|end| *end <= MAX_PARAMETER_BYTES)?;
        found.push(Parameter { offset: offset as u32, size: size as u32 });
        tokens.next_if_eq(&",");
    }
    Some(found)
}

/// What one parameter takes, in bytes.
struct Shape {
    align: u64,
    size: u64,
}

impl Shape {
    /// Up to the comma or parenthesis behind it.
    fn read(tokens: &mut Peekable<Tokens>) -> Option<Self> {
        tokens.next_if_eq(&".param")?;
        let (mut align, mut element, mut count, mut of_pointee) = (None, None, 1_u64, false);
        while let Some(token) = tokens.next_if(|token| !matches!(*token, "," | ")")) {
            match token {
                ".align" => {
                    let value = tokens
                        .next()
                        .and_then(number)
                        .filter(|value| value.is_power_of_two() && *value <= 128);
                    // Behind `.ptr` it is that of the memory pointed to.
                    if !of_pointee {
                        align = Some(value?);
                    }
                }
                ".ptr" => of_pointee = true,
                ".const" | ".global" | ".local" | ".shared" if of_pointee => {}
                "[" => {
                    count = count.checked_mul(tokens.next().and_then(number)?)?;
                    tokens.next_if_eq(&"]")?;
                }
                name if !name.starts_with('.') => {}
                fundamental => element = Some(bytes(fundamental)?),
            }
        }
        let element = element?;
        Some(Self { align: align.unwrap_or(element), size: element.checked_mul(count)? })
    }
}

/// Size of a fundamental type.
fn bytes(fundamental: &str) -> Option<u64> {
    Some(match fundamental {
        ".b8" | ".u8" | ".s8" => 1,
        ".b16" | ".u16" | ".s16" | ".f16" | ".bf16" => 2,
        ".b32" | ".u32" | ".s32" | ".f32" | ".f16x2" | ".bf16x2" => 4,
        ".b64" | ".u64" | ".s64" | ".f64" => 8,
        ".b128" => 16,
        _ => return None,
    })
}

/// An integer literal, without or with its unsigned suffix.
fn number(token: &str) -> Option<u64> {
    let token = token.trim_end_matches('U');
    match token.strip_prefix("0x").or_else(|| token.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => token.parse().ok(),
    }
}

/// Words and single punctuation characters, without comments and strings.
#[derive(Clone)]
pub(super) struct Tokens<'t>(pub(super) &'t str);

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        loop {
            self.0 = self.0.trim_start();
            let skipped = if let Some(comment) = self.0.strip_prefix("//") {
                comment.split_once('\n')
            } else if let Some(comment) = self.0.strip_prefix("/*") {
                comment.split_once("*/")
            } else if let Some(string) = self.0.strip_prefix('"') {
                string.split_once('"')
            } else {
                break;
            };
            self.0 = skipped.map_or("", |(_, rest)| rest);
        }
        let first = self.0.chars().next()?;
        let is_word =
            |next: char| next.is_ascii_alphanumeric() || matches!(next, '_' | '$' | '%' | '.');
        let length = if is_word(first) {
            self.0.find(|next| !is_word(next)).unwrap_or(self.0.len())
        } else {
            first.len_utf8()
        };
        let (token, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(token)
    }
}
