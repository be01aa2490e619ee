import { DomainError } from '../../../contract/domain-error.ts'
import { holdsNamedMax } from '../../../contract/limits.ts'
import type { TenantTx } from '../../db/database.ts'
import { nextTimePoint, type TimePoint } from '../../records/monotonic-timestamp.ts'
import type { StoredRecord } from '../../records/record-rows.ts'
import { heldRecordOf } from '../../records/record-rows.ts'
import type { HoldCheck, HoldName, ProvenRelease } from '../legal-holds/holds-types.ts'
import type { RetentionPolicy } from '../retention/retention-types.ts'

/**
 * Decides whether the subject may purge the record now. Requires the lock of holds.
 *
 * @param micros the clock, read under the lock
 * @returns the time of the purge, later than the releases that permit it
 * @throws DomainError `legal-hold`, with any holds as the member `holds`, or else `retention`
 */
export async function requirePurgeable(
  tx: TenantTx,
  row: StoredRecord,
  {
    subject,
    micros,
    holds,
    retention: policy,
  }: { subject: string; micros: number; holds: HoldCheck; retention: RetentionPolicy },
): Promise<TimePoint> {
  const record = heldRecordOf(row)
  const isEvent = record.record_type === 'governance_event'
  const releases = isEvent ? await holds.releasesOf(tx, [record.record_id]) : []
  const moment = nextTimePoint(micros, [await holds.lastRelease(tx), ...releases.map((release) => release.created_at)])
  const retention = await policy.inForce(tx)

  const [active = []] = await holds.activeOver(tx, [record])
  const reasons = active.length > 0 ? [heldBy(active)] : []
  if (holds.lacksRelease({ ...record, purged_at: moment.text }, releases)) {
    reasons.push(unreleased(record.record_id))
  }
  const [released = []] = await holds.releasedBy(tx, subject, [record], retention.four_eyes)
  const ownDoing = ownDoingOf(subject, released, releases, retention.four_eyes)
  if (ownDoing) reasons.push(...ownDoing.reasons)
  if (reasons.length > 0) {
    const named = [...active, ...(ownDoing?.holds ?? [])].slice(-holdsNamedMax)
    throw new DomainError('legal-hold', reasons.join(' '), named.length > 0 ? { extensions: { holds: named } } : {})
  }

  const until = policy.keptUntil(retention, record)
  if (until !== undefined && moment.text < until) {
    throw new DomainError(
      'retention',
      `The retention rule of its type keeps this ${record.record_type} until ${until}. Purge it then.`,
      { extensions: { keep_until: until } },
    )
  }
  return moment
}

/**
 * Returns the holds and releases of the record that the subject released under four eyes, now or at that time. Somebody
 * else must purge the record.
 */
function ownDoingOf(
  subject: string,
  holds: HoldName[],
  releases: readonly ProvenRelease[],
  fourEyes: boolean,
): { reasons: string[]; holds: HoldName[] } | undefined {
  const own = releases.some((release) => release.created_by === subject && (fourEyes || release.fourEyes))
  const reasons = [
    ...(holds.length > 0 ? [`You released ${namesOf(holds)}.`] : []),
    ...(own ? ['You created a release of this record.'] : []),
  ]
  if (reasons.length === 0) return undefined
  return { reasons: [...reasons, 'Four eyes are required: another person must purge it.'], holds }
}

function heldBy(holds: readonly HoldName[]): string {
  return (
    `The record is under ${namesOf(holds)}. It can be purged when every hold over it has been released: ` +
    'POST /api/v1/hub/legal-holds/{hold_id}:release.'
  )
}

const namedMax = 10

function namesOf(holds: readonly HoldName[]): string {
  const named = holds.slice(0, namedMax).map(({ hold_id, name }) => `${JSON.stringify(name)} (${hold_id})`)
  const more = holds.length > namedMax ? ` and ${moreThan(holds.length)} more` : ''
  return `the legal hold${holds.length > 1 ? 's' : ''} ${named.join(', ')}${more}`
}

/** Returns the number of further holds. Beyond the limit, the query does not count them all. */
function moreThan(count: number): string {
  return count > holdsNamedMax ? `at least ${count - namedMax}` : String(count - namedMax)
}

function unreleased(recordId: string): string {
  return (
    'A governance_event is kept until it is released, and there is no active release for this one: ' +
    `POST /api/v1/hub/records/${recordId}/legal-hold-releases first.`
  )
}
