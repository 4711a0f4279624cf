use std::fmt::Write;
use std::mem::offset_of;

use allocert_abi::{emm, place};
use rstest::rstest;

use crate::compiler::{Language, compile, run};

#[rstest]
fn compiles_alone_and_twice(
    #[values(Language::C11, Language::Cpp17)] language: Language,
    #[values("emm", "place")] header: &str,
) {
    let include = format!("#include \"allocert_{header}.h\"\n");
    compile(language, &format!("{include}{include}int main(void) {{ return 0; }}\n"));
}

/// One line a fact: the C expression and the value that Rust has for it.
macro_rules! layout {
    ($($c:literal => $rust:ty { $($field:ident),+ $(,)? })+) => {
        vec![$(
            (format!("sizeof({})", $c), size_of::<$rust>()),
            (format!("_Alignof({})", $c), align_of::<$rust>()),
            $((format!("offsetof({}, {})", $c, stringify!($field)), offset_of!($rust, $field)),)+
        )+]
    };
}

#[test]
fn layout_equals_the_rust_types() {
    let facts = layout! {
        "allocert_emm_memory" => emm::Memory {
            size, kind, reserved, device_pointer, host_pointer, size_bytes, token,
        }
        "allocert_emm_ipc_handle" => emm::IpcHandle {
            size, handle, size_bytes, offset_bytes, device_uuid,
        }
        "allocert_emm_memory_info" => emm::MemoryInfo { size, free_bytes, total_bytes }
        "allocert_emm_plugin" => emm::Plugin {
            size, interface_version, capabilities, name, version, create, destroy, initialize,
            memalloc, memhostalloc, mempin, release, get_memory_info, get_ipc_handle, reset,
            defer_begin, defer_end, last_error,
        }
        "allocert_place" => place::Place { kind, device }
        "allocert_place_allocator" => place::Allocator {
            size, interface_version, reserved, name, version, alloc, free, used, release,
            last_error,
        }
    };
    assert_equal_in_c(&facts);
}

#[test]
fn constants_equal_the_rust_constants() {
    let status =
        |status: emm::Status| usize::try_from(status.0).expect("statuses are not negative");
    let place_status =
        |status: place::Status| usize::try_from(status.0).expect("statuses are not negative");
    let place_kind = |kind: i32| usize::try_from(kind).expect("kinds are not negative");
    let facts = [
        ("ALLOCERT_EMM_VERSION", emm::VERSION as usize),
        ("ALLOCERT_EMM_OK", status(emm::Status::OK)),
        ("ALLOCERT_EMM_OUT_OF_MEMORY", status(emm::Status::OUT_OF_MEMORY)),
        ("ALLOCERT_EMM_INVALID_VALUE", status(emm::Status::INVALID_VALUE)),
        ("ALLOCERT_EMM_NOT_SUPPORTED", status(emm::Status::NOT_SUPPORTED)),
        ("ALLOCERT_EMM_DRIVER_ERROR", status(emm::Status::DRIVER_ERROR)),
        ("ALLOCERT_EMM_STATE", status(emm::Status::STATE)),
        ("ALLOCERT_EMM_INTERNAL", status(emm::Status::INTERNAL)),
        ("ALLOCERT_EMM_CAP_HOST_MEMORY", emm::CAP_HOST_MEMORY as usize),
        ("ALLOCERT_EMM_CAP_MEMORY_INFO", emm::CAP_MEMORY_INFO as usize),
        ("ALLOCERT_EMM_CAP_IPC", emm::CAP_IPC as usize),
        ("ALLOCERT_EMM_CAP_MANAGED", emm::CAP_MANAGED as usize),
        ("ALLOCERT_EMM_HOST_MAPPED", emm::HOST_MAPPED as usize),
        ("ALLOCERT_EMM_HOST_PORTABLE", emm::HOST_PORTABLE as usize),
        ("ALLOCERT_EMM_HOST_WRITE_COMBINED", emm::HOST_WRITE_COMBINED as usize),
        ("ALLOCERT_EMM_KIND_DEVICE", emm::KIND_DEVICE as usize),
        ("ALLOCERT_EMM_KIND_PINNED", emm::KIND_PINNED as usize),
        ("ALLOCERT_EMM_KIND_MAPPED", emm::KIND_MAPPED as usize),
        ("sizeof(allocert_emm_status)", size_of::<emm::Status>()),
        ("ALLOCERT_PLACE_VERSION", place::VERSION as usize),
        ("ALLOCERT_PLACE_OK", place_status(place::Status::OK)),
        ("ALLOCERT_PLACE_OUT_OF_MEMORY", place_status(place::Status::OUT_OF_MEMORY)),
        ("ALLOCERT_PLACE_INVALID_VALUE", place_status(place::Status::INVALID_VALUE)),
        ("ALLOCERT_PLACE_NO_PLACE", place_status(place::Status::NO_PLACE)),
        ("ALLOCERT_PLACE_DRIVER_ERROR", place_status(place::Status::DRIVER_ERROR)),
        ("ALLOCERT_PLACE_CORRUPTED", place_status(place::Status::CORRUPTED)),
        ("ALLOCERT_PLACE_INTERNAL", place_status(place::Status::INTERNAL)),
        ("ALLOCERT_PLACE_CPU", place_kind(place::CPU)),
        ("ALLOCERT_PLACE_CUDA", place_kind(place::CUDA)),
        ("ALLOCERT_PLACE_CUDA_PINNED", place_kind(place::CUDA_PINNED)),
        ("sizeof(allocert_place_status)", size_of::<place::Status>()),
    ];
    assert_equal_in_c(&facts.map(|(expression, value)| (expression.to_owned(), value)));
}

fn assert_equal_in_c(facts: &[(String, usize)]) {
    let (mut prints, mut expected) = (String::new(), String::new());
    for (expression, value) in facts {
        writeln!(prints, "  printf(\"{expression} = %zu\\n\", (size_t)({expression}));")
            .expect("a String");
        writeln!(expected, "{expression} = {value}").expect("a String");
    }
    let text = format!(
        "#include \"allocert_emm.h\"\n#include \"allocert_place.h\"\n#include <stdio.h>\n\
         int main(void) {{\n{prints}  return 0;\n}}\n"
    );
    let (_folder, program) = compile(Language::C11, &text);
    assert_eq!(run(&program), expected);
}

#[rstest]
#[case::emm(
    allocert_abi::EMM_HEADER,
    13,
    size_of::<emm::Plugin>() - offset_of!(emm::Plugin, create)
)]
#[case::place(
    allocert_abi::PLACE_HEADER,
    5,
    size_of::<place::Allocator>() - offset_of!(place::Allocator, alloc)
)]
fn every_function_of_the_header_is_in_the_twin(
    #[case] header: &str,
    #[case] members: usize,
    #[case] twin_bytes: usize,
) {
    let declared: Vec<&str> = header
        .split("(*")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|name| !name.ends_with("_fn"))
        .collect();
    assert_eq!(declared.len(), members, "the table's functions in the header: {declared:?}");
    assert_eq!(
        twin_bytes,
        members * size_of::<usize>(),
        "a function of the header is missing in the twin, or the reverse"
    );
}
