//! What people do to submissions: withdraw, review, publish, reject, decide a
//! leak hit. Each deed is one
//! transaction with its event; each is refused in plain words where the state
//! does not allow it.

use faultboard_domain::finding::Disposition;
use faultboard_domain::job::{JobKind, Priority};
use faultboard_domain::{Actor, RevisionId, SubmissionId, SubmissionState};
use faultboard_store::jobs::NewJob;
use faultboard_store::revisions::{self, RevisionState};
use faultboard_store::submissions::{self, Submission};
use faultboard_store::{Tx, attempts, jobs};

use crate::begin::FIRST_SCORING;
use crate::{Change, Portal, PortalError, Result, maintainer};

const NOTE_MOST: usize = 4000;

fn note(text: &str) -> Result<String> {
    let text = text.trim();
    if text.chars().count() > NOTE_MOST {
        return Err(PortalError::Invalid(format!(
            "A note has at most {NOTE_MOST} characters."
        )));
    }
    Ok(text.to_owned())
}

pub(crate) fn reason(text: &str, why: &str) -> Result<String> {
    let text = note(text)?;
    if text.is_empty() {
        return Err(PortalError::Invalid(format!("Give a reason: {why}.")));
    }
    Ok(text)
}

/// The configuration's name, or the file's until the metadata is read.
pub(crate) fn title(s: &Submission) -> String {
    s.metadata
        .as_ref()
        .map_or_else(|| s.file_name.clone(), |m| m.configuration())
}

fn wrong_state(s: &Submission, wanted: &str) -> PortalError {
    PortalError::Conflict(format!(
        "This submission is `{}` now; only {wanted} can go that way. Reload the page to see where it stands.",
        s.state
    ))
}

impl Portal {
    async fn in_tx(&self, tx: &mut Tx, id: &SubmissionId) -> Result<Submission> {
        submissions::get(tx, id).await?.ok_or(PortalError::NotFound)
    }

    pub(crate) async fn done(&self, tx: Tx, id: &SubmissionId) -> Result<()> {
        tx.commit().await?;
        self.wake();
        self.tell(Change::Submission(id.clone()));
        self.tell(Change::Queue);
        Ok(())
    }

    /// Takes a submission back, by its owner, their team or an
    /// administrator, before it is
    /// published.
    pub async fn withdraw(&self, actor: &Actor, id: &SubmissionId, why: &str) -> Result<()> {
        crate::submitter(actor)?;
        let mut tx = self.store.begin().await?;
        let s = self.in_tx(&mut tx, id).await?;
        if !crate::downloads::owns(actor, &s) && !actor.is_admin() {
            return Err(if s.state.is_public() {
                PortalError::Forbidden
            } else {
                PortalError::NotFound
            });
        }
        let why = note(why)?;
        if !s.state.is_withdrawable() {
            return Err(wrong_state(&s, "submissions before publication"));
        }
        let now = self.now();
        submissions::transition(
            &mut tx,
            id,
            s.state,
            SubmissionState::Withdrawn,
            actor,
            &why,
            now,
        )
        .await?;
        jobs::cancel_of(&mut tx, id, now).await?;
        self.done(tx, id).await
    }

    /// Takes a scored submission into review.
    pub async fn start_review(&self, actor: &Actor, id: &SubmissionId, text: &str) -> Result<()> {
        maintainer(actor)?;
        let text = note(text)?;
        let mut tx = self.store.begin().await?;
        let s = self.in_tx(&mut tx, id).await?;
        if s.state != SubmissionState::Scored {
            return Err(wrong_state(&s, "scored ones"));
        }
        submissions::transition(
            &mut tx,
            id,
            s.state,
            SubmissionState::InReview,
            actor,
            &text,
            self.now(),
        )
        .await?;
        self.done(tx, id).await
    }

    /// Returns a submission in review to its owner with comments. It stays scored:
    /// its owner answers, hands in another or takes it back, and it can be taken
    /// into review again.
    pub async fn return_with_comments(
        &self,
        actor: &Actor,
        id: &SubmissionId,
        text: &str,
    ) -> Result<()> {
        maintainer(actor)?;
        let text = reason(text, "its owner reads it")?;
        let mut tx = self.store.begin().await?;
        let s = self.in_tx(&mut tx, id).await?;
        if s.state != SubmissionState::InReview {
            return Err(wrong_state(&s, "those in review"));
        }
        let said = format!("returned with comments: {text}");
        let scored = SubmissionState::Scored;
        submissions::transition(&mut tx, id, s.state, scored, actor, &said, self.now()).await?;
        self.done(tx, id).await
    }

    /// Adds a remark to a submission's timeline, by its owners or a maintainer.
    pub async fn comment(&self, actor: &Actor, id: &SubmissionId, text: &str) -> Result<()> {
        crate::submitter(actor)?;
        let mut tx = self.store.begin().await?;
        let s = self.in_tx(&mut tx, id).await?;
        if !self.is_insider(actor, &s) {
            return Err(if s.state.is_public() {
                PortalError::Forbidden
            } else {
                PortalError::NotFound
            });
        }
        let text = reason(text, "it is the comment")?;
        submissions::event(&mut tx, id, actor, None, &text, self.now()).await?;
        self.done(tx, id).await
    }

    /// Publishes a reviewed (or scored) submission: its live revision goes on the
    /// boards, and an earlier submission of the same configuration is superseded.
    pub async fn publish(&self, actor: &Actor, id: &SubmissionId, text: &str) -> Result<()> {
        maintainer(actor)?;
        let text = note(text)?;
        let mut tx = self.store.begin().await?;
        let s = self.in_tx(&mut tx, id).await?;
        let now = self.now();
        match s.state {
            SubmissionState::Scored => {
                submissions::transition(
                    &mut tx,
                    id,
                    s.state,
                    SubmissionState::InReview,
                    actor,
                    "",
                    now,
                )
                .await?;
            }
            SubmissionState::InReview => {}
            _ => return Err(wrong_state(&s, "scored or reviewed ones")),
        }
        let open = attempts::findings(&mut tx, id)
            .await?
            .iter()
            .filter(|f| f.disposition == Disposition::Open)
            .count();
        if open > 0 {
            return Err(PortalError::Conflict(format!(
                "{open} leak hit(s) of this submission wait for a decision: confirm or clear each of them first."
            )));
        }
        let revision = revisions::of_submission(&mut tx, id)
            .await?
            .into_iter()
            .filter(|r| matches!(r.state, RevisionState::Ready | RevisionState::Live))
            // One beside the live one has yet to be applied or discarded.
            .min_by_key(|r| r.state != RevisionState::Live)
            .ok_or_else(|| {
                PortalError::Conflict(
                    "No score revision of this submission is complete.".to_owned(),
                )
            })?;
        submissions::transition(
            &mut tx,
            id,
            SubmissionState::InReview,
            SubmissionState::Published,
            actor,
            &text,
            now,
        )
        .await?;
        self.go_live(&mut tx, &s, &revision.id).await?;
        let title = title(&s);
        if let Some(m) = &s.metadata {
            for old in submissions::published_of(&mut tx, &m.configuration_key(), id).await? {
                let why = format!("replaced by submission {id}");
                submissions::transition(
                    &mut tx,
                    &old,
                    SubmissionState::Published,
                    SubmissionState::Superseded,
                    &Actor::System,
                    &why,
                    now,
                )
                .await?;
                submissions::add_change(
                    &mut tx,
                    &format!("An earlier submission of {title} was superseded."),
                    &format!("/submissions/{old}"),
                    now,
                )
                .await?;
                self.tell(Change::Submission(old));
            }
            submissions::add_change(
                &mut tx,
                &format!("{title} was published on the {} board.", m.track),
                &format!("/submissions/{id}"),
                now,
            )
            .await?;
        }
        self.enqueue_rebuild(&mut tx).await?;
        self.done(tx, id).await
    }

    /// Makes a complete revision the live one, inside the caller's transaction.
    pub(crate) async fn go_live(
        &self,
        tx: &mut Tx,
        s: &Submission,
        revision: &RevisionId,
    ) -> Result<()> {
        if let Some(old) = &s.live_revision
            && old != revision
        {
            revisions::transition(tx, old, RevisionState::Live, RevisionState::Replaced).await?;
        }
        revisions::transition(tx, revision, RevisionState::Ready, RevisionState::Live).await?;
        submissions::set_live_revision(tx, &s.id, revision).await?;
        Ok(())
    }

    /// Asks for the boards to be rebuilt, once however often it is asked.
    pub(crate) async fn enqueue_rebuild(&self, tx: &mut Tx) -> Result<()> {
        let job = NewJob {
            kind: JobKind::RebuildBoard,
            priority: Priority::Interactive,
            subject: "rebuild the boards and figures".to_owned(),
            submission: None,
            revision: None,
            attempt: None,
            exclusive_key: Some("boards".to_owned()),
            unique_key: None,
            max_tries: 5,
        };
        jobs::insert(tx, &job, self.now()).await?;
        Ok(())
    }

    /// Turns a submission down, with a reason that its owner sees.
    pub async fn reject(&self, actor: &Actor, id: &SubmissionId, text: &str) -> Result<()> {
        maintainer(actor)?;
        let text = reason(text, "its owner reads it")?;
        let mut tx = self.store.begin().await?;
        let s = self.in_tx(&mut tx, id).await?;
        if !s.state.may_become(SubmissionState::Rejected) {
            return Err(wrong_state(
                &s,
                "flagged, scored, reviewed or published ones",
            ));
        }
        let now = self.now();
        submissions::transition(
            &mut tx,
            id,
            s.state,
            SubmissionState::Rejected,
            actor,
            &text,
            now,
        )
        .await?;
        jobs::cancel_of(&mut tx, id, now).await?;
        if s.state == SubmissionState::Published {
            submissions::add_change(
                &mut tx,
                "A published submission was taken off the board.",
                "/changes",
                now,
            )
            .await?;
            self.enqueue_rebuild(&mut tx).await?;
        }
        self.done(tx, id).await
    }

    /// Confirms or clears a leak hit.
    pub async fn decide_finding(
        &self,
        actor: &Actor,
        id: i64,
        confirm: bool,
        why: &str,
    ) -> Result<SubmissionId> {
        maintainer(actor)?;
        let why = reason(why, "the submitter and later reviewers read it")?;
        let mut tx = self.store.begin().await?;
        let owner = attempts::finding_owner(&mut tx, id)
            .await?
            .ok_or(PortalError::NotFound)?;
        let s = self.in_tx(&mut tx, &owner).await?;
        if !matches!(
            s.state,
            SubmissionState::Flagged
                | SubmissionState::Scored
                | SubmissionState::InReview
                | SubmissionState::Published
        ) {
            return Err(wrong_state(
                &s,
                "hits of flagged, scored, reviewed or published submissions",
            ));
        }
        let now = self.now();
        let disposition = if confirm {
            Disposition::Confirmed
        } else {
            Disposition::Cleared
        };
        attempts::decide_finding(&mut tx, id, disposition, &why, &actor.label(), now).await?;
        submissions::event(
            &mut tx,
            &owner,
            actor,
            None,
            &format!("leak hit {id} {}: {why}", disposition.as_str()),
            now,
        )
        .await?;
        self.done(tx, &owner).await?;
        Ok(owner)
    }

    /// Sends a flagged submission on to scoring, once every hit is decided.
    pub async fn resume_flagged(&self, actor: &Actor, id: &SubmissionId) -> Result<()> {
        maintainer(actor)?;
        let mut tx = self.store.begin().await?;
        let s = self.in_tx(&mut tx, id).await?;
        if s.state != SubmissionState::Flagged {
            return Err(wrong_state(&s, "flagged ones"));
        }
        let open = attempts::findings(&mut tx, id)
            .await?
            .iter()
            .filter(|f| f.disposition == Disposition::Open)
            .count();
        if open > 0 {
            return Err(PortalError::Conflict(format!(
                "{open} leak hit(s) wait for a decision: confirm or clear each of them first."
            )));
        }
        submissions::transition(
            &mut tx,
            id,
            s.state,
            SubmissionState::Queued,
            actor,
            "every leak hit is decided",
            self.now(),
        )
        .await?;
        self.begin_revision(&mut tx, &s, &FIRST_SCORING, actor)
            .await?;
        self.done(tx, id).await
    }
}
