import type { RetentionRules } from '../../server/modules/retention/retention-types.ts'

/**
 * Interface 3.1 with holds, releases, four eyes and retention, as plainly as it can be said. Time goes in whole days:
 * what happens in one day happens one after the other, a little later each time, so an end of n days has come when,
 * and not before, n days have been stepped over.
 */

export const subjects = ['client-1', 'client-2'] as const
export type Subject = (typeof subjects)[number]
/** Who sets the retention rules. */
const rulesBy: Subject = 'client-1'
export const types = ['decision', 'artifact', 'governance_event'] as const
export type Type = (typeof types)[number]

export const bufferDays = 30

export interface ModelRecord {
  id: string
  type: Type
  writer: Subject
  day: number
  /** Counts what happens, to tell what came first. */
  at: number
  purge?: { day: number; by: Subject; end: number } | { day: number; by: Subject; left: number }
  isErased: boolean
  releases: { by: Subject; until: number; fourEyes: boolean }[]
}

export interface ModelFilter {
  record_type?: Type[]
  created_by?: Subject
  /** Only records that are written from now on. */
  isLater?: boolean
}

export interface ModelHold {
  id: string
  covers: (record: ModelRecord) => boolean
  released?: { by: Subject; at: number; fourEyes: boolean }
}

export class LifecycleModel {
  day = 0
  at = 0
  records: ModelRecord[] = []
  holds: ModelHold[] = []
  retention: RetentionRules = { rules: [], four_eyes: false }

  tick(): number {
    this.at += 1
    return this.at
  }

  isGone({ isErased, purge }: ModelRecord): boolean {
    return isErased || (purge !== undefined && 'end' in purge && purge.end <= this.day)
  }

  isHeld(record: ModelRecord): boolean {
    return this.holds.some((hold) => hold.released === undefined && hold.covers(record))
  }

  private ruleOf({ type }: ModelRecord) {
    return this.retention.rules.find((rule) => rule.record_type === type)
  }

  /** `ok`, or the slug of the refusal, as of all below. */
  purge(record: ModelRecord, by: Subject): string {
    if (this.isGone(record)) return 'not-found'
    if (record.purge !== undefined) return 'ok'
    const isReleased = record.releases.some((release) => this.day < release.until)
    if (this.isHeld(record) || (record.type === 'governance_event' && !isReleased)) return 'legal-hold'
    if (this.hasReleased(record, by)) return 'legal-hold'
    if (this.day - record.day < (this.ruleOf(record)?.min_days ?? 0)) return 'retention'
    record.purge = { day: this.day, by, end: this.day + bufferDays }
    return 'ok'
  }

  /** With four eyes, now or when it was released. */
  private hasReleased(record: ModelRecord, by: Subject): boolean {
    const counts = (release: { by: Subject; fourEyes: boolean } | undefined) =>
      release?.by === by && (this.retention.four_eyes === true || release.fourEyes)
    return (
      record.releases.some(counts) ||
      this.holds.some(({ released, covers }) => counts(released) && released!.at > record.at && covers(record))
    )
  }

  restore(record: ModelRecord): string {
    if (this.isGone(record)) return 'not-found'
    delete record.purge
    return 'ok'
  }

  release(record: ModelRecord, by: Subject, days: number | undefined): string {
    if (this.isGone(record)) return 'not-found'
    if (record.type !== 'governance_event') return 'validation-failed'
    record.releases.push({
      by,
      fourEyes: this.retention.four_eyes === true,
      until: days === undefined ? Number.POSITIVE_INFINITY : this.day + days,
    })
    return 'ok'
  }

  place(hold: ModelHold): void {
    this.holds.push(hold)
    for (const record of this.records) {
      const { purge } = record
      if (this.isGone(record) || purge === undefined || !('end' in purge) || !hold.covers(record)) continue
      record.purge = { day: purge.day, by: purge.by, left: purge.end - this.day }
    }
  }

  /** `ok`, or the slug of the refusal: with four eyes, whoever purged what it keeps may not end it. */
  releaseHold(hold: ModelHold, by: Subject): string {
    if (hold.released !== undefined) return 'ok'
    const keepsOwn = (record: ModelRecord) =>
      record.purge !== undefined && 'left' in record.purge && record.purge.by === by && hold.covers(record)
    if (this.retention.four_eyes && this.records.some(keepsOwn)) return 'legal-hold'
    hold.released = { by, at: this.tick(), fourEyes: this.retention.four_eyes === true }
    for (const record of this.records) {
      const { purge } = record
      if (purge === undefined || !('left' in purge) || this.isHeld(record)) continue
      record.purge = { day: purge.day, by: purge.by, end: this.day + purge.left }
    }
    return 'ok'
  }

  /** Answers how many. */
  erase(): number {
    const going = this.records.filter((record) => !record.isErased && this.isGone(record) && !this.isHeld(record))
    for (const record of going) record.isErased = true
    return going.length
  }

  /** Answers how many. */
  purgeOverdue(): number {
    const going = this.records.filter((record) => {
      const days = this.ruleOf(record)?.max_days
      if (record.isErased || record.purge !== undefined || days === undefined) return false
      return this.day - record.day >= days && !this.isHeld(record) && !this.hasReleased(record, rulesBy)
    })
    for (const record of going) record.purge = { day: this.day, by: rulesBy, end: this.day + bufferDays }
    return going.length
  }
}
