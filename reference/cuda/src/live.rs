use std::sync::Arc;

use allocert_contract::array::ArrayInterface;

use crate::stream::Keep;
use crate::{Span, Stream};

/// An array of the CUDA Array Interface whose memory and streams exist.
#[derive(Clone)]
pub struct Live {
    array: ArrayInterface,
    keep: Option<Keep>,
}

impl Live {
    /// Takes the word of who lends the array: that is what the interface rests on.
    ///
    /// # Safety
    /// Every byte of the array and of its masks is memory that a device can reach, their streams
    /// exist, and both stay so as long as `keep`; without one, as long as the value made here and
    /// what comes from it. No reference to the bytes exists meanwhile.
    #[must_use]
    pub unsafe fn vouched(array: ArrayInterface, keep: Option<Keep>) -> Self {
        Self { array, keep }
    }

    /// An array, and what of it has to exist: `None` unless every byte of it and of its masks lies
    /// in one of `memory`, and every stream is one of `streams`.
    #[must_use]
    pub fn within(array: ArrayInterface, memory: Vec<Span>, streams: Vec<Stream>) -> Option<Self> {
        let mut next = Some(&array);
        while let Some(one) = next {
            let bytes =
                one.extent().is_none_or(|bytes| memory.iter().any(|span| span.holds(&bytes)));
            let stream = one
                .stream()
                .handle()
                .is_none_or(|handle| streams.iter().any(|stream| stream.handle() == handle));
            if !(bytes && stream) {
                return None;
            }
            next = one.mask();
        }
        Some(Self { array, keep: Some(Arc::new((memory, streams))) })
    }

    #[must_use]
    pub fn array(&self) -> &ArrayInterface {
        &self.array
    }

    /// From the lowest to the highest byte of any element; `None` if there is none.
    #[must_use]
    pub fn memory(&self) -> Option<Span> {
        let (first, last) = self.array.extent()?.into_inner();
        let size_bytes = (last - first).checked_add(1)?;
        // SAFETY: who made this vouched for every byte of the array. Those between two elements are
        // never asked for.
        Some(unsafe { Span::foreign(first, size_bytes, self.keep.clone()) })
    }

    /// The stream to wait for.
    #[must_use]
    pub fn stream(&self) -> Option<Stream> {
        // SAFETY: who made this vouched for the stream.
        self.array
            .stream()
            .handle()
            .map(|handle| unsafe { Stream::foreign(handle, self.keep.clone()) })
    }

    #[must_use]
    pub fn mask(&self) -> Option<Self> {
        let array = self.array.mask()?.clone();
        Some(Self { array, keep: self.keep.clone() })
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("array", &self.array).finish_non_exhaustive()
    }
}
