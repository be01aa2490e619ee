import * as v from 'valibot'
import { retentionDaysMax } from '../../../contract/limits.ts'
import { type RecordType, recordTypes } from '../../../contract/literals.ts'
import type { ApiResponse } from '../../api/api-client.ts'

export type RetentionRules = ApiResponse<'getRetentionRules'>

/** A field of the form: empty for no limit. */
const days = v.union([
  v.literal(''),
  v.pipe(
    v.number(),
    v.integer('Whole days.'),
    v.minValue(0, 'Not below 0.'),
    v.maxValue(retentionDaysMax, `At most ${retentionDaysMax} days.`),
  ),
])

export const retentionValues = v.object({
  rules: v.array(
    v.pipe(
      v.object({ record_type: v.picklist(recordTypes), min_days: days, max_days: days }),
      v.forward(
        v.check(
          ({ min_days, max_days }) => min_days === '' || max_days === '' || max_days >= min_days,
          'Not less than at least: nothing younger can be purged.',
        ),
        ['max_days'],
      ),
    ),
  ),
  four_eyes: v.boolean(),
})
export type RetentionValues = v.InferOutput<typeof retentionValues>

/** Returns a row for each type, with or without a rule. */
export function valuesOf({ rules, four_eyes }: RetentionRules): RetentionValues {
  return {
    four_eyes,
    rules: recordTypes.map((record_type) => {
      const rule = rules.find((each) => each.record_type === record_type)
      return { record_type, min_days: rule?.min_days ?? '', max_days: rule?.max_days ?? '' }
    }),
  }
}

/** Returns the body of the call, which replaces all rules. */
export function rulesOf({ rules, four_eyes }: RetentionValues) {
  return {
    four_eyes,
    rules: rules
      .filter(({ min_days, max_days }) => min_days !== '' || max_days !== '')
      .map(({ record_type, min_days, max_days }) => ({
        record_type,
        ...(min_days !== '' && { min_days }),
        ...(max_days !== '' && { max_days }),
      })),
  }
}

export interface RuleChange {
  record_type: RecordType
  /** The effect in a sentence. */
  words: string
  /** Records older than this many days are purged from now on and were not before. */
  purgesOver?: number
}

/** Returns the effects of a change of the rules, one sentence for each changed limit. */
export function changesOf(before: RetentionValues, after: RetentionValues): RuleChange[] {
  return after.rules.flatMap(({ record_type, min_days, max_days }, index): RuleChange[] => {
    const old = before.rules[index]
    if (!old) return []
    const changes: RuleChange[] = []
    if (min_days !== old.min_days) {
      const words =
        min_days === '' || min_days === 0
          ? 'can be purged at any age'
          : `cannot be purged before they are ${inDays(min_days)} old`
      changes.push({ record_type, words })
    }
    if (max_days !== old.max_days) {
      const words =
        max_days === ''
          ? 'are kept until somebody purges them'
          : `are purged by the Hub within the hour once they are older than ${inDays(max_days)}`
      const isStricter = max_days !== '' && (old.max_days === '' || max_days < old.max_days)
      changes.push({ record_type, words, ...(isStricter && { purgesOver: max_days }) })
    }
    return changes
  })
}

/** Returns days as text: 730 days (2 years) */
export function inDays(days: number): string {
  const years = days / 365
  const said = `${days.toLocaleString()} ${days === 1 ? 'day' : 'days'}`
  return Number.isInteger(years) && years > 0 ? `${said} (${years} ${years === 1 ? 'year' : 'years'})` : said
}
