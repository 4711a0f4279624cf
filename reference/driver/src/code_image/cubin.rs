//! Reads cubins: ELF files with one symbol and one section `.nv.info.KERNEL` of attributes for each
//! kernel.
//!
//! No public document has NVIDIA's own numbers. The ones here are those that the compilers of CUDA
//! 13.5 write, checked against the sources that were compiled.

use std::collections::BTreeMap;

use super::{Kernel, MAX_PARAMETER_BYTES, Parameter};

const SECTION_BYTES: usize = 64;
const SYMBOL_BYTES: usize = 24;
const MACHINE_CUDA: u16 = 190;
const SYMBOL_TABLE: u32 = 2;
const FUNCTION: u8 = 2;
/// In a symbol's `st_other`: a kernel.
const KERNEL: u8 = 0x10;
/// How the value of an attribute is kept: in the two bytes behind its number, or in as many bytes
/// as these say.
const SIZED: u8 = 4;
/// Number, size and place of a parameter: packed, and with more room.
const PARAMETER: u8 = 0x17;
const WIDE_PARAMETER: u8 = 0x45;
const PREFIX: &str = ".nv.info.";
/// What may be looked at of one image. The largest in use are a few hundred megabytes, nearly all
/// of it code.
const MAX_BYTES: u64 = 256 << 20;

pub(super) fn kernels(
    read: &mut dyn FnMut(u64, &mut [u8]) -> bool,
) -> Option<BTreeMap<String, Kernel>> {
    let mut file = File { read, left: MAX_BYTES };
    let sections = file.sections()?;
    let mut kernels = BTreeMap::new();
    for table in sections.iter().filter(|section| section.kind == SYMBOL_TABLE) {
        let names = file.bytes(sections.get(table.link as usize)?)?;
        for symbol in file.bytes(table)?.as_chunks::<SYMBOL_BYTES>().0 {
            if symbol[4] & 0xf == FUNCTION && symbol[5] & KERNEL != 0 {
                kernels.insert(file.name(&names, u32_at(symbol, 0)?)?, Kernel::default());
            }
        }
    }
    for section in &sections {
        let kernel = section.name.strip_prefix(PREFIX).and_then(|name| kernels.get_mut(name));
        if let Some(kernel) = kernel {
            kernel.layout = parameters(&file.bytes(section)?).map(Into::into);
        }
    }
    Some(kernels)
}

struct File<'r> {
    read: &'r mut dyn FnMut(u64, &mut [u8]) -> bool,
    /// Bytes that may yet be looked at.
    left: u64,
}

struct Section {
    name: String,
    kind: u32,
    link: u32,
    offset: u64,
    size: u64,
}

impl File<'_> {
    fn sections(&mut self) -> Option<Vec<Section>> {
        let header = self.range(0, 64)?;
        let is_cubin =
            header.starts_with(b"\x7fELF\x02\x01") && u16_at(&header, 18)? == MACHINE_CUDA;
        if !is_cubin || usize::from(u16_at(&header, 58)?) != SECTION_BYTES {
            return None;
        }
        let count = u64::from(u16_at(&header, 60)?);
        let table = self.range(u64_at(&header, 40)?, count * SECTION_BYTES as u64)?;
        let mut sections = Vec::new();
        for entry in table.as_chunks::<SECTION_BYTES>().0 {
            let (kind, link) = (u32_at(entry, 4)?, u32_at(entry, 40)?);
            sections.push(Section {
                name: String::new(),
                kind,
                link,
                offset: u64_at(entry, 24)?,
                size: u64_at(entry, 32)?,
            });
        }
        let names = self.bytes(sections.get(usize::from(u16_at(&header, 62)?))?)?;
        for (section, entry) in sections.iter_mut().zip(table.as_chunks::<SECTION_BYTES>().0) {
            section.name = self.name(&names, u32_at(entry, 0)?)?;
        }
        Some(sections)
    }

    fn bytes(&mut self, section: &Section) -> Option<Vec<u8>> {
        self.range(section.offset, section.size)
    }

    fn range(&mut self, offset: u64, size: u64) -> Option<Vec<u8>> {
        self.spend(size)?;
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        (self.read)(offset, &mut bytes).then_some(bytes)
    }

    /// The string that ends with the first NUL from `offset` on.
    fn name(&mut self, table: &[u8], offset: u32) -> Option<String> {
        let rest = table.get(offset as usize..)?;
        let end = rest.iter().take(self.left as usize).position(|byte| *byte == 0)?;
        self.spend(end as u64 + 1)?;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    }

    fn spend(&mut self, bytes: u64) -> Option<()> {
        self.left = self.left.checked_sub(bytes)?;
        Some(())
    }
}

/// A kernel's parameters from its attributes; `None` if they are not as known.
fn parameters(mut attributes: &[u8]) -> Option<Vec<Parameter>> {
    let mut found = Vec::new();
    while !attributes.is_empty() {
        let (head, rest) = attributes.split_at_checked(4)?;
        let (format, attribute) = (head[0], head[1]);
        let size = if format == SIZED { usize::from(u16_at(head, 2)?) } else { 0 };
        let (value, rest) = rest.split_at_checked(size)?;
        attributes = rest;
        if format == SIZED && matches!(attribute, PARAMETER | WIDE_PARAMETER) {
            found.push(parameter(attribute, value)?);
        }
    }
    found.sort_by_key(|(ordinal, _)| *ordinal);
    let complete =
        found.iter().enumerate().all(|(index, (ordinal, _))| index == usize::from(*ordinal));
    let found: Vec<Parameter> = found.into_iter().map(|(_, parameter)| parameter).collect();
    let apart = found.windows(2).all(|pair| pair[0].offset + pair[0].size <= pair[1].offset);
    (complete && apart).then_some(found)
}

/// A word that is not used here, number, offset, and size: in the upper 14 bits of a word, or in
/// all of it.
fn parameter(attribute: u8, value: &[u8]) -> Option<(u16, Parameter)> {
    let (ordinal, offset, size) = (u16_at(value, 4)?, u16_at(value, 6)?, u32_at(value, 8)?);
    let size = if attribute == PARAMETER { size >> 18 } else { size };
    let parameter = Parameter { offset: offset.into(), size };
    (u64::from(offset) + u64::from(size) <= MAX_PARAMETER_BYTES).then_some((ordinal, parameter))
}

fn at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    at(bytes, offset).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    at(bytes, offset).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    at(bytes, offset).map(u64::from_le_bytes)
}
