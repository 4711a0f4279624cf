//! What the sources declare: enums, structures, their fields with defaults, and doc comments.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use syn::{
    Attribute, Expr, ExprLit, Field, Fields, GenericArgument, Item, ItemEnum, ItemStruct, Lit,
    Meta, PathArguments, Stmt, Type, Variant,
};

/// The declarations of several files. The last one wins if a name is declared twice.
pub(super) struct Declarations {
    enums: BTreeMap<String, ItemEnum>,
    structs: BTreeMap<String, ItemStruct>,
    /// What functions without arguments return, as a fixture writes it.
    defaults: BTreeMap<String, String>,
}

/// One field of an operation or of a structure.
pub(super) struct FieldEntry {
    pub(super) name: String,
    pub(super) about: Vec<String>,
    pub(super) presence: Presence,
    /// The name of the type, without `Box`, `Option` and `Vec`.
    pub(super) type_name: String,
    pub(super) is_list: bool,
}

/// Whether a field must be written.
pub(super) enum Presence {
    Required,
    Optional,
    Default(String),
}

impl Declarations {
    pub(super) fn read(files: &[PathBuf]) -> Self {
        let mut all =
            Self { enums: BTreeMap::new(), structs: BTreeMap::new(), defaults: BTreeMap::new() };
        for file in files {
            let text = fs::read_to_string(file).expect("a source can be read");
            let parsed = syn::parse_file(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            for item in parsed.items {
                all.add(item);
            }
        }
        all
    }

    fn add(&mut self, item: Item) {
        match item {
            Item::Enum(item) => {
                self.enums.insert(item.ident.to_string(), item);
            }
            Item::Struct(item) => {
                self.structs.insert(item.ident.to_string(), item);
            }
            Item::Fn(function) => {
                if let [Stmt::Expr(value, None)] = function.block.stmts.as_slice()
                    && let Some(value) = written(value)
                {
                    self.defaults.insert(function.sig.ident.to_string(), value);
                }
            }
            _ => {}
        }
    }

    pub(super) fn variants(&self, name: &str) -> Option<Vec<&Variant>> {
        Some(self.enums.get(name)?.variants.iter().collect())
    }

    /// The fields of a structure.
    pub(super) fn structure(&self, name: &str) -> Option<Vec<FieldEntry>> {
        Some(self.entries(&self.structs.get(name)?.fields))
    }

    /// The fields of a variant; those of the structure that it holds, if it holds one.
    pub(super) fn fields(&self, variant: &Variant) -> Vec<FieldEntry> {
        match &variant.fields {
            Fields::Unnamed(held) => {
                let (name, _) = type_name(&held.unnamed[0].ty);
                self.structure(&name).unwrap_or_default()
            }
            named => self.entries(named),
        }
    }

    /// The enum that a variant holds, if it holds one: then a fixture writes one of its variants.
    pub(super) fn held_enum(&self, variant: &Variant) -> Option<Vec<&Variant>> {
        let Fields::Unnamed(held) = &variant.fields else { return None };
        self.variants(&type_name(&held.unnamed[0].ty).0)
    }

    fn entries(&self, fields: &Fields) -> Vec<FieldEntry> {
        fields.iter().map(|field| self.entry(field)).collect()
    }

    fn entry(&self, field: &Field) -> FieldEntry {
        let ident = field.ident.as_ref().expect("the fields of an operation have names");
        let (type_name, is_list) = type_name(&field.ty);
        FieldEntry {
            name: ident.to_string().trim_start_matches("r#").to_owned(),
            about: about(&field.attrs),
            presence: self.presence(field),
            type_name,
            is_list,
        }
    }

    fn presence(&self, field: &Field) -> Presence {
        let Some(function) = serde_default(&field.attrs) else { return Presence::Required };
        if let Some(function) = function {
            let value = self.defaults.get(&function);
            return Presence::Default(
                value.unwrap_or_else(|| panic!("what does {function}() return?")).clone(),
            );
        }
        let (outer, _) = outer_type(&field.ty);
        match outer.as_str() {
            "Option" => Presence::Optional,
            "Vec" => Presence::Default("[]".to_owned()),
            "BTreeMap" => Presence::Default("{}".to_owned()),
            "bool" => Presence::Default("false".to_owned()),
            "String" => Presence::Default("\"\"".to_owned()),
            "u8" | "u32" | "u64" | "i32" | "i64" => Presence::Default("0".to_owned()),
            name => Presence::Default(self.default_variant(name)),
        }
    }

    fn default_variant(&self, name: &str) -> String {
        let variants = self.variants(name).unwrap_or_default();
        let default = variants.iter().find(|variant| is_default(variant));
        default.map_or_else(|| "{}".to_owned(), |variant| snake_case(&variant.ident.to_string()))
    }
}

pub(super) fn is_default(variant: &Variant) -> bool {
    variant.attrs.iter().any(|attribute| attribute.path().is_ident("default"))
}

/// The paragraphs of a doc comment.
pub(super) fn about(attributes: &[Attribute]) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Meta::NameValue(pair) = &attribute.meta else { continue };
        let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value else { continue };
        let (line, last) = (text.value(), paragraphs.last_mut().expect("it is never empty"));
        if line.trim().is_empty() {
            paragraphs.push(String::new());
        } else {
            last.push_str(if last.is_empty() { "" } else { " " });
            last.push_str(line.trim());
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

pub(super) fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

/// Whether serde gives the field a default, and by which function.
fn serde_default(attributes: &[Attribute]) -> Option<Option<String>> {
    let mut default = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        let _ = attribute.parse_nested_meta(|meta| {
            let value = match meta.value() {
                Ok(value) => Some(value.parse::<Lit>()?),
                Err(_) => None,
            };
            if meta.path.is_ident("default") {
                default = Some(value.and_then(|value| match value {
                    Lit::Str(text) => Some(text.value()),
                    _ => None,
                }));
            }
            Ok(())
        });
    }
    default
}

/// The name of a type without `Box`, `Option` and `Vec`, and whether it is a `Vec`.
fn type_name(r#type: &Type) -> (String, bool) {
    match outer_type(r#type) {
        (name, Some(inner)) if name == "Box" || name == "Option" => type_name(inner),
        (name, Some(inner)) if name == "Vec" => (type_name(inner).0, true),
        (name, _) => (name, false),
    }
}

/// The last word of a type's path, and its first argument.
fn outer_type(r#type: &Type) -> (String, Option<&Type>) {
    let Type::Path(path) = r#type else { panic!("the type of a field is a path") };
    let last = path.path.segments.last().expect("a path has a word");
    let inner = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(inner) => Some(inner),
                _ => None,
            })
        }
        _ => None,
    };
    (last.ident.to_string(), inner)
}

/// A literal as a fixture writes it.
fn written(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Str(text) => Some(text.value()),
            Lit::Int(number) => Some(number.base10_digits().to_owned()),
            Lit::Bool(flag) => Some(flag.value.to_string()),
            _ => None,
        },
        Expr::MethodCall(call) => written(&call.receiver),
        _ => None,
    }
}
