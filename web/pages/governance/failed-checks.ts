/** The text of each failed check of a verification or of the integrity sweep (docs/attacks.md). */
const said: Readonly<Record<string, string>> = {
  provenance_hash_matches: 'The record is not what was hashed: its content was changed.',
  provenance_cosign_valid: 'The cosignature does not fit: it was changed, or made without the key.',
  schema_version_supported: 'It names a version of the schema that this Hub does not know.',
  no_active_legal_hold_violation: 'It was purged while a legal hold was over it, or without a release.',
  seal_present: 'The log names a seal that is not stored any more.',
  seal_in_log: 'The seal is not the one that the log has at that place.',
  leaves_accounted_for: 'Sealed records are missing, and no erasure explains it.',
  leaf_claimed_once: 'Two records claim one place in the seal, or one claims a place that there is not.',
  record_in_log: 'No entry of the log explains the record: it was put in.',
  state_follows_events: 'It is purged or restored, and its events say otherwise.',
  tombstone_present: 'An event records its erasure, but its tombstone is missing.',
  content_erasure_proven: 'Content under a destroyed key, which no event of the destruction explains.',
  tombstone_proven: 'It was erased without an event that backs it, or before its recovery period was over.',
  release_present: 'An event records its release, but the release is missing.',
  release_proven: 'No event matches this release: it was inserted or edited.',
  hold_present: 'Events record a legal hold that is missing.',
  hold_end_present: 'Events record the release of a legal hold, but its row does not.',
  hold_proven: 'No event matches this legal hold: it was inserted or edited.',
  hold_end_proven: 'No event records the release of this legal hold. The hold stays in force.',
  retention_proven: 'The retention rules differ from the last event about them.',
  log_entries_complete: 'Entries of the log are missing, or there are some beyond its end.',
  log_tree_readable: 'Hashes of the stored log are missing.',
  log_tree_matches_head: 'The stored log does not lead to the root that was signed.',
  log_head_present: 'The signed end of the log is gone.',
  log_head_signed: 'No key of the tenant signed the end of the log.',
  kept_checkpoint_signed: 'A checkpoint that was kept is by no key of the tenant.',
  log_continues_kept_checkpoint: 'The log was set back, or has another history than one that was kept.',
  readable: 'A stored value is none that can be there.',
  keys_genuine: 'A stored key was not made by the Hub.',
  keys_introduced: 'A key that no key before it introduced.',
  keys_published: 'The published keys are not those that are stored.',
  sweep_claim_ends: 'Somebody tried to keep the sweeper from looking. It looks again.',
  sweep_readable: 'The stored progress of the sweeper is unreadable. The sweep starts again.',
  report_proven: 'Somebody wrote beforehand that this had been reported, to keep it quiet.',
}

/** Returns the meaning of a failed check. */
export function meaningOf(check: string): string {
  return (Object.hasOwn(said, check) && said[check]) || 'Something stored is not as the Hub left it.'
}
