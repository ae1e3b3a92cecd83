//! Reading a Zstandard stream of any number of frames with a decoder written in
//! safe Rust, the same one on the server and in the browser. Checksums are
//! compared; a frame that wants more than 128 MiB of window is refused.

use std::io::{self, BufRead, BufReader, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// All frames of a stream, one after the other.
pub(super) struct Frames<R: Read> {
    input: BufReader<R>,
    decoder: FrameDecoder,
    state: State,
}

#[derive(PartialEq)]
enum State {
    Between,
    Inside,
}

fn bad(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

impl<R: Read> Frames<R> {
    pub(super) fn new(input: BufReader<R>) -> Self {
        Self {
            input,
            decoder: FrameDecoder::new(),
            state: State::Between,
        }
    }

    /// Starts the next frame; false at the end of the stream.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.input.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.input) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut frame = (&mut self.input).take(u64::from(length));
                    if io::copy(&mut frame, &mut io::sink())? < u64::from(length) {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(e) => return Err(bad(e)),
            }
        }
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.state == State::Between {
                if !self.next_frame()? {
                    return Ok(0);
                }
                self.state = State::Inside;
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.input, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(bad)?;
            }
            let n = self.decoder.read(buffer)?;
            if n > 0 || buffer.is_empty() {
                return Ok(n);
            }
            if let Some(told) = self.decoder.get_checksum_from_data()
                && self.decoder.get_calculated_checksum() != Some(told)
            {
                return Err(bad("the checksum of the data is wrong"));
            }
            self.state = State::Between;
        }
    }
}
