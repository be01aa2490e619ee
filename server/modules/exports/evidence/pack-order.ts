import { type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { evidencePackDaysMax } from '../../../../contract/limits.ts'
import { recordTypes } from '../../../../contract/literals.ts'
import { parseTimestamp } from '../../../../contract/timestamp.ts'
import type { Caller } from '../../../http/caller.ts'
import type { ExportRequest, NewEvidencePack } from '../exports-types.ts'

const dayMs = 86_400_000

/**
 * Returns the order of an evidence pack, without its id. Its period is its filter.
 *
 * @param now RFC 3339, UTC, six fractional digits
 * @throws DomainError `validation-failed`
 */
export function packOrderFrom(caller: Caller, body: NewEvidencePack, now: string): Omit<ExportRequest, 'jobId'> {
  const errors: PointedError[] = []
  const timeOf = (name: 'from' | 'to') => {
    const parsed = parseTimestamp(body[name])
    if (parsed === undefined) errors.push({ pointer: `/${name}`, detail: 'must be an RFC 3339 timestamp' })
    return parsed
  }
  const [from, to] = [timeOf('from'), timeOf('to')]
  if (from && to) {
    if (to.text > now) errors.push({ pointer: '/to', detail: 'must not be in the future' })
    if (from.text >= to.text) errors.push({ pointer: '/from', detail: 'must be before to' })
    else if (to.epochMs - from.epochMs > evidencePackDaysMax * dayMs) {
      errors.push({ pointer: '/from', detail: `must not be more than ${evidencePackDaysMax} days before to` })
    }
  }
  if (errors.length > 0 || !from || !to) throw validationFailed(errors)
  return {
    format: 'jsonl',
    compression: null,
    filter: { created_at__gte: from.text, created_at__lt: to.text },
    recordTypes,
    pack: { note: body.note ?? null, includeContent: body.include_content ?? false },
    verify: false,
    includeProvenance: true,
    createdBy: caller.subject,
    createdAt: now,
  }
}
