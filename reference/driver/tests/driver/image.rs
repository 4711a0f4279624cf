//! What images say about their kernels, and what nonsense says.

use allocert_driver::{CudaError, Kernels, Parameter};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use rstest::rstest;

use crate::machine::Machine;

const PTX: &str = r#"
    .version 8.8
    .target sm_90 // .entry no(.param .u64 p)
    .address_size 64
    .file 1 "a .entry nor(.param .u32 p)"
    /* .entry neither() */
    .visible .func (.param .b32 r) helper(.param .b64 p) { ret; }
    .visible .entry k1(
        .param .u32 k1_param_0,
        .param .u64 .ptr .global .align 4 k1_param_1,
        .param .u8 k1_param_2,
        .param .align 8 .b8 k1_param_3[40],
        .param .u16 k1_param_4,
        .param .f64 k1_param_5
    )
    .maxntid 32, 1, 1
    { ld.param.u32 %r1, [k1_param_0]; }
    .weak .entry _Z2k6IiEvPT_(
        .param .align 16 .b8 a[0x10], .param .align 1 .b8 b[3], .param .u64 c[2]
    ) { ret; }
    .entry none { ret; }
    .entry odd(.param .texref t) { ret; }
"#;

/// Offsets and sizes, one after the other.
fn layout(kernels: &Kernels, name: &str) -> Option<Vec<(u32, u32)>> {
    let layout = kernels.kernel(name).expect("a kernel of the image").layout.as_ref()?;
    Some(layout.iter().map(|parameter| (parameter.offset, parameter.size)).collect())
}

#[test]
fn ptx_tells_the_kernels_and_where_their_parameters_lie() {
    let kernels = Kernels::of_ptx(PTX);
    assert_eq!(kernels.names().collect::<Vec<_>>(), ["_Z2k6IiEvPT_", "k1", "none", "odd"]);
    let k1 = [(0, 4), (8, 8), (16, 1), (24, 40), (64, 2), (72, 8)];
    assert_eq!(layout(&kernels, "k1").as_deref(), Some(&k1[..]));
    assert_eq!(layout(&kernels, "_Z2k6IiEvPT_"), Some(vec![(0, 16), (16, 3), (24, 16)]));
    assert_eq!(layout(&kernels, "none"), Some(vec![]));
    assert_eq!(layout(&kernels, "odd"), None, "a parameter of no known size");
    assert_eq!(kernels.kernel("helper"), None, "no kernel");
}

#[rstest]
#[case::never_ends("(.param .u64 a, .param")]
#[case::no_size("(.param a)")]
#[case::unknown_size("(.param .align 8 .b8 a[])")]
#[case::alignment_zero("(.param .align 0 .b8 a[8])")]
#[case::alignment_odd("(.param .align 3 .b8 a[8])")]
#[case::more_than_a_kernel_can_have("(.param .b8 a[18446744073709551615])")]
#[case::overflow("(.param .b64 a[18446744073709551615][2])")]
#[case::together_too_much("(.param .b8 a[65536], .param .b8 b)")]
#[case::not_parameters("(,,,)")]
fn a_list_that_is_not_understood_is_no_layout(#[case] list: &str) {
    let kernels = Kernels::of_ptx(&format!(".entry k {list}"));
    assert_eq!(layout(&kernels, "k"), None);
}

#[test]
fn a_cubin_tells_the_kernels_and_where_their_parameters_lie() {
    let kernels = read(&cubin()).expect("a cubin");
    assert_eq!(kernels.names().collect::<Vec<_>>(), ["add", "huge", "silent"]);
    assert_eq!(layout(&kernels, "add"), Some(vec![(0, 4), (8, 8), (16, 40)]));
    assert_eq!(layout(&kernels, "huge"), Some(vec![(0, 20000), (20000, 4)]));
    assert_eq!(layout(&kernels, "silent"), None, "it has no attributes");
}

#[rstest]
#[case::nothing(0, b"")]
#[case::text(0, b".version 8.0")]
#[case::of_another_machine(18, b"\x3e\x00")]
#[case::sections_far_away(40, b"\xff\xff\xff\xff\xff\xff\xff\xff")]
#[case::odd_sections(58, b"\x3f")]
#[case::no_names(62, b"\xff\xff")]
fn another_file_is_no_cubin(#[case] offset: usize, #[case] bytes: &[u8]) {
    let mut file = cubin();
    file[offset..offset + bytes.len()].copy_from_slice(bytes);
    assert_eq!(read(if bytes.is_empty() { &[] } else { &file }), None);
}

#[test]
fn parameters_that_cannot_be_are_no_layout() {
    let second = [parameter(1, 8, 8), parameter(2, 16, 8)].concat();
    let file = elf(&[("k", Some(second))]);
    assert_eq!(layout(&read(&file).expect("a cubin"), "k"), None);
    let over = [parameter(0, 0, 16), parameter(1, 8, 8)].concat();
    assert_eq!(
        layout(&read(&elf(&[("k", Some(over))])).expect("a cubin"), "k"),
        None,
        "one over the other"
    );
    let beyond = elf(&[("k", Some(wide(0, 65535, 2)))]);
    assert_eq!(layout(&read(&beyond).expect("a cubin"), "k"), None, "past all parameters");
}

#[test]
fn nonsense_ends_without_harm() {
    let (cubin, mut random) = (cubin(), SplitMix64::seed_from_u64(7));
    let mut understood = 0;
    for _ in 0..20_000 {
        let mut file = cubin.clone();
        for _ in 0..1 + below(&mut random, 8) {
            let at = below(&mut random, file.len());
            file[at] = random.next_u64() as u8;
        }
        file.truncate(file.len() - below(&mut random, 2) * below(&mut random, file.len()));
        understood += usize::from(read(&file).is_some());
        let mut text = PTX.as_bytes().to_vec();
        for _ in 0..1 + below(&mut random, 8) {
            let at = below(&mut random, text.len());
            text[at] = b"()[],.\"/*0x \xff"[below(&mut random, 13)];
        }
        Kernels::of_ptx(&String::from_utf8_lossy(&text));
    }
    assert!(
        (1000..20_000).contains(&understood),
        "the files are broken here and whole there: {understood}"
    );
}

#[test]
fn a_functions_parameters_can_be_asked_for() {
    let mut machine = Machine::new();
    let module = machine
        .call(|driver, caller| driver.module_load(caller, Some(Kernels::of_ptx(PTX))))
        .expect("loaded");
    let [k1, odd] =
        ["k1", "odd"].map(|name| machine.driver.image_function(module, name).expect("defined"));
    let driver = &mut machine.driver;
    assert_eq!(driver.function_parameter(k1, 3), Ok(Parameter { offset: 24, size: 40 }));
    assert_eq!(driver.function_parameter(k1, 6), Err(CudaError::INVALID_VALUE));
    assert_eq!(driver.function_parameter(odd, 0), Err(CudaError::NOT_SUPPORTED));
    assert_eq!(driver.image_function(module, "k"), Err(CudaError::NOT_FOUND));
    let opaque = driver.library_load(None, None).expect("loaded");
    let any = driver.image_function(opaque, "any").expect("an opaque image has every name");
    assert_eq!(driver.function_parameter(any, 0), Err(CudaError::NOT_SUPPORTED));
    assert_eq!(driver.function_parameter(1, 0), Err(CudaError::INVALID_HANDLE));
}

#[rstest]
#[case::measured("9.0", 13000, Ok(()))]
#[case::of_an_older_driver("9.0", 12080, Ok(()))]
#[case::newer("9.1", 13000, Err(CudaError::UNSUPPORTED_PTX_VERSION))]
#[case::of_its_own_driver("9.1", 13010, Ok(()))]
#[case::of_a_later_driver("9.1", 13050, Ok(()))]
fn a_driver_takes_ptx_up_to_its_version(
    #[case] version: &str,
    #[case] driver_version: i32,
    #[case] expected: Result<(), CudaError>,
) {
    let text =
        format!(".version {version}\n.target sm_90\n.address_size 64\n.entry k() {{ ret; }}");
    assert_eq!(Kernels::check_ptx(&text, driver_version), expected);
}

fn read(file: &[u8]) -> Option<Kernels> {
    Kernels::of_cubin(&mut |offset, into| {
        let found =
            usize::try_from(offset).ok().and_then(|offset| file.get(offset..)?.get(..into.len()));
        found.is_some_and(|found| {
            into.copy_from_slice(found);
            true
        })
    })
}

/// Three kernels: one with packed parameters, one with wide ones, one of which nothing is said.
fn cubin() -> Vec<u8> {
    let half = |attribute: u8| [3, attribute, 8, 0].to_vec();
    let packed =
        [half(0x19), parameter(2, 16, 40), parameter(1, 8, 8), parameter(0, 0, 4), half(0x1b)]
            .concat();
    elf(&[
        ("add", Some(packed)),
        ("huge", Some([wide(1, 20000, 4), wide(0, 0, 20000)].concat())),
        ("silent", None),
    ])
}

fn parameter(ordinal: u16, offset: u16, size: u32) -> Vec<u8> {
    attribute(0x17, ordinal, offset, size << 18 | 0x1_f500)
}

fn wide(ordinal: u16, offset: u16, size: u32) -> Vec<u8> {
    attribute(0x45, ordinal, offset, size)
}

fn attribute(number: u8, ordinal: u16, offset: u16, last: u32) -> Vec<u8> {
    let [ordinal, offset] = [ordinal, offset].map(u16::to_le_bytes);
    [&[4, number, 12, 0, 0, 0, 0, 0], &ordinal[..], &offset, &last.to_le_bytes()].concat()
}

/// An ELF file with these kernels and their attributes.
fn elf(kernels: &[(&str, Option<Vec<u8>>)]) -> Vec<u8> {
    let mut names = vec![0];
    let mut name = |text: &str| {
        names.extend(text.bytes().chain([0]));
        (names.len() - text.len() - 1) as u32
    };
    let mut symbols = vec![0; 24];
    for (kernel, _) in kernels {
        symbols.extend(name(kernel).to_le_bytes());
        symbols.extend([0x12, 0x10]);
        symbols.extend([0; 18]);
    }
    // A function that is no kernel.
    symbols.extend(
        [name("helper").to_le_bytes(), [0x12, 0, 0, 0], [0; 4], [0; 4], [0; 4], [0; 4]].concat(),
    );
    let mut sections = vec![(0, 0, Vec::new())];
    for (kernel, attributes) in kernels {
        let attributes = attributes.iter().cloned();
        sections.extend(
            attributes.map(|attributes| {
                (name(&format!(".nv.info.{kernel}")), 0x7000_0000_u32, attributes)
            }),
        );
    }
    let symbol_table = (name(".symtab"), 2, symbols);
    let strings = (name(".strtab"), 3, names);
    let strings_at = sections.len() as u16;
    sections.extend([strings, symbol_table]);
    let mut file = vec![0; 64];
    let mut table = Vec::new();
    for (name, kind, bytes) in &sections {
        let mut entry = vec![0; 64];
        entry[..4].copy_from_slice(&name.to_le_bytes());
        entry[4..8].copy_from_slice(&kind.to_le_bytes());
        entry[24..32].copy_from_slice(&(file.len() as u64).to_le_bytes());
        entry[32..40].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        entry[40..44].copy_from_slice(&u32::from(strings_at).to_le_bytes());
        file.extend(bytes);
        table.extend(entry);
    }
    let (sections_at, count) = (file.len() as u64, sections.len() as u16);
    file.extend(table);
    file[..6].copy_from_slice(b"\x7fELF\x02\x01");
    file[18..20].copy_from_slice(&190_u16.to_le_bytes());
    file[40..48].copy_from_slice(&sections_at.to_le_bytes());
    file[58..60].copy_from_slice(&64_u16.to_le_bytes());
    file[60..62].copy_from_slice(&count.to_le_bytes());
    file[62..64].copy_from_slice(&strings_at.to_le_bytes());
    file
}

/// Less than `limit`, which is above 0.
fn below(random: &mut SplitMix64, limit: usize) -> usize {
    (random.next_u64() % limit as u64) as usize
}
