import { Alert } from '@mantine/core'
import { earlyPurges } from '../../../contract/retention-warnings.ts'
import type { RetentionValues } from './retention-rules.ts'

/** Warns about each rule that purges records before they are six months old. */
export function EarlyPurgeWarnings({ rules }: Pick<RetentionValues, 'rules'>) {
  const limited = rules.map(({ record_type, max_days }) => ({
    record_type,
    ...(typeof max_days === 'number' && { max_days }),
  }))
  return earlyPurges(limited).map(({ recordType, text }) => (
    <Alert key={recordType} color="orange" title="Less than six months">
      {text}
    </Alert>
  ))
}
