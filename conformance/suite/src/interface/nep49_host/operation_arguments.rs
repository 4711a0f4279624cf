//! What operations on a host of handlers are made of.

use serde::{Deserialize, Serialize};

/// A way to make an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Making {
    /// `empty(shape, dtype)`.
    Empty,
    /// `zeros(shape, dtype)`.
    Zeros,
    /// `ones(shape, dtype)`.
    Ones,
    /// `full(shape, 7, dtype)`.
    Full,
    /// `array()` of a list of descending numbers. Of a structured type each field is one.
    Descending,
    /// `fromiter()` of a generator, whose length the host does not know.
    Iterator,
    /// `fromstring()` of numbers as text.
    Text,
    /// `loadtxt()` of numbers as text.
    Lines,
    /// `frombuffer()` of memory of the worker.
    Buffer,
    /// `frombuffer()` of the memory of a new object, which nobody else holds.
    Lent,
}

/// A way to make an array from another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deriving {
    /// `a.view()`.
    View,
    /// `a[::2]`.
    EverySecond,
    /// The bytes of `a` from the second one on, as numbers of 8 bytes.
    Unaligned,
    /// `a.copy()`.
    Copy,
    /// `a.astype('f4')`.
    Convert,
    /// `a[[0, 1]]`.
    Pick,
    /// `a[a > 0]`.
    Mask,
    /// `a + a`.
    Sum,
    /// `concatenate([a, a])`.
    Concatenate,
    /// `pickle.loads(pickle.dumps(a, 2))`.
    Pickle,
    /// `a.__setstate__()` with the state of an array of three numbers. The result is `a` itself.
    SetState,
}

/// Something whose result the worker compares with its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Computation {
    /// `a.sort()`.
    Sort,
    /// `a.argsort()`.
    Argsort,
    /// `unique(a)`.
    Unique,
    /// `a.sum()`.
    Sum,
    /// `a[::2].sort()`.
    SortStrided,
    /// `a[::2].argsort()`.
    ArgsortStrided,
}

/// Where code runs, as Python's context variables know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A new `threading.Thread`.
    Thread,
    /// `contextvars.copy_context().run()`.
    CopiedContext,
    /// `contextvars.Context().run()`.
    EmptyContext,
    /// `asyncio.create_task()`.
    Task,
    /// `asyncio.to_thread()`.
    ToThread,
    /// A generator, which the worker advances.
    Generator,
}
