//! Files in the format of Zstandard, which may consist of several frames.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// Compresses all that there is to read. The result is held in memory: the compressor has no way
/// to say that what it writes to is full.
///
/// # Errors
/// What kept the source from being read.
pub(crate) fn compress(source: impl Read) -> io::Result<Vec<u8>> {
    let mut source = UntilError { source, error: None };
    let compressed = compress_to_vec(&mut source, CompressionLevel::Fastest);
    source.error.map_or(Ok(compressed), Err)
}

/// Ends at an error and keeps it, because the compressor panics at one.
struct UntilError<R> {
    source: R,
    error: Option<io::Error>,
}

impl<R: Read> Read for UntilError<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(self.source.read(buffer).unwrap_or_else(|error| {
            self.error = Some(error);
            0
        }))
    }
}

/// Reads what a file holds, one frame after the other.
pub(crate) struct Decoder<R: BufRead> {
    state: State<R>,
}

enum State<R: BufRead> {
    InFrame(Box<StreamingDecoder<R, FrameDecoder>>),
    Between(R),
    Ended,
}

impl<R: BufRead> Decoder<R> {
    /// # Errors
    /// The file does not begin with a frame.
    pub(crate) fn new(file: R) -> io::Result<Self> {
        Ok(Self { state: begin_frame(file)? })
    }
}

fn begin_frame<R: BufRead>(file: R) -> io::Result<State<R>> {
    let decoder = StreamingDecoder::new(file)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
    Ok(State::InFrame(Box::new(decoder)))
}

/// What comes after a frame whose content has the checksum that it names, if it names one.
fn end_frame<R: BufRead>(decoder: StreamingDecoder<R, FrameDecoder>) -> io::Result<R> {
    let (file, decoder) = decoder.into_parts();
    let (named, found) = (decoder.get_checksum_from_data(), decoder.get_calculated_checksum());
    if named.is_some() && named != found {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum of a frame differs"));
    }
    Ok(file)
}

impl<R: BufRead> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.state = match std::mem::replace(&mut self.state, State::Ended) {
                State::Ended => return Ok(0),
                State::InFrame(mut decoder) => match decoder.read(buffer)? {
                    0 => State::Between(end_frame(*decoder)?),
                    read => {
                        self.state = State::InFrame(decoder);
                        return Ok(read);
                    }
                },
                State::Between(mut file) => match file.fill_buf()? {
                    [] => State::Ended,
                    _ => begin_frame(file)?,
                },
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(file: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        Decoder::new(file)?.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn what_was_compressed_is_read_again() {
        let text = b"{\"case\": 1}\n".repeat(100_000);
        let compressed = compress(&*text).expect("a slice can be read");
        assert!(compressed.len() < text.len() / 16, "{}", compressed.len());
        assert_eq!(decoded(&compressed).expect("a whole file"), text);
    }

    #[test]
    fn all_frames_are_read() {
        let frames = [&b"one "[..], b"", b"two"].map(|part| compress(part).expect("a slice"));
        assert_eq!(decoded(&frames.concat()).expect("whole frames"), b"one two");
    }

    #[test]
    fn a_file_that_is_cut_off_or_no_frame_is_an_error() {
        let compressed = compress(&b"a line\n".repeat(1000)[..]).expect("a slice");
        assert!(decoded(&compressed[..compressed.len() / 2]).is_err());
        assert!(decoded(b"plain text").is_err());
        assert!(decoded(b"").is_err());
    }

    #[test]
    fn an_error_of_the_source_is_given() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        assert_eq!(compress(Broken).expect_err("no text").to_string(), "gone");
    }
}
