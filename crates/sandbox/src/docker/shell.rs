//! A program at a person's terminal, under the same contract as every run: the
//! engine gives it a terminal of its own, and bytes go to and fro.

use bollard::container::LogOutput;
use bollard::query_parameters as query;
use futures::StreamExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::calls::{LONG, SHORT, call, engine_error};
use super::{DockerRuntime, RemoveOnDrop, body, named, start_error, watch};
use crate::error::RuntimeError;
use crate::spec::RunSpec;
use crate::terminal::{Terminal, TerminalSize};

impl DockerRuntime {
    pub(super) async fn shell_inner(
        &self,
        spec: &RunSpec,
        terminal: Terminal,
    ) -> Result<i32, RuntimeError> {
        spec.check()?;
        let image = self.image_id(&spec.image).await?;
        let mut body = body::container(spec, &image, self, None);
        body.tty = Some(true);
        body.open_stdin = Some(true);
        body.stdin_once = Some(true);
        body.attach_stdin = Some(true);
        let created = call(
            "create container",
            LONG,
            self.client.create_container(None, body),
        )
        .await;
        let id = created.map_err(|e| named(e, &spec.image))?.id;
        let removal = RemoveOnDrop {
            client: self.client.clone(),
            id: Some(id.clone()),
        };
        let ended = self.converse(&id, terminal).await;
        removal.now().await;
        ended
    }

    async fn converse(&self, id: &str, mut terminal: Terminal) -> Result<i32, RuntimeError> {
        let attach = query::AttachContainerOptionsBuilder::default()
            .stream(true)
            .stdin(true)
            .stdout(true)
            .stderr(true)
            .build();
        let mut attached = call(
            "attach",
            SHORT,
            self.client.attach_container(id, Some(attach)),
        )
        .await?;
        call("start", LONG, self.client.start_container(id, None))
            .await
            .map_err(start_error)?;
        let size = *terminal.size.borrow_and_update();
        self.resize(id, size).await;
        let local = |source| RuntimeError::io("the terminal", source);
        let mut typed = [0_u8; 4096];
        let (mut typing, mut sizing) = (true, true);
        loop {
            tokio::select! {
                piece = attached.output.next() => match piece {
                    None => break,
                    Some(Err(e)) => return Err(engine_error("attach", e)),
                    Some(Ok(LogOutput::StdIn { .. })) => {}
                    Some(Ok(LogOutput::StdOut { message } | LogOutput::StdErr { message } | LogOutput::Console { message })) => {
                        terminal.output.write_all(&message).await.map_err(local)?;
                        terminal.output.flush().await.map_err(local)?;
                    }
                },
                read = terminal.input.read(&mut typed), if typing => match read.map_err(local)? {
                    0 => {
                        typing = false;
                        // The program sees the end of its input; that it has gone
                        // meanwhile shows in its output's end.
                        let _ = attached.input.shutdown().await;
                    }
                    n => {
                        let sent = async {
                            attached.input.write_all(&typed[..n]).await?;
                            attached.input.flush().await
                        };
                        if sent.await.is_err() {
                            typing = false;
                        }
                    }
                },
                changed = terminal.size.changed(), if sizing => match changed {
                    Ok(()) => {
                        let size = *terminal.size.borrow_and_update();
                        self.resize(id, size).await;
                    }
                    Err(_) => sizing = false,
                },
            }
        }
        tokio::time::timeout(SHORT, watch::wait(&self.client, id))
            .await
            .map_err(|_| RuntimeError::EngineTimeout {
                call: "wait",
                seconds: SHORT.as_secs(),
            })??;
        Ok(watch::ended(&self.client, id).await?.status)
    }

    /// A wrong size is a blemish, no failure.
    async fn resize(&self, id: &str, size: TerminalSize) {
        let options = query::ResizeContainerTTYOptionsBuilder::default()
            .h(i32::from(size.rows))
            .w(i32::from(size.columns))
            .build();
        if let Err(e) = call(
            "resize",
            SHORT,
            self.client.resize_container_tty(id, options),
        )
        .await
        {
            tracing::debug!(error = %e, "the terminal's size could not be told to the engine");
        }
    }
}
