import { type Attack, type Detector, detectors } from './attack-ways.ts'
import { attacksByRollBack } from './attacks-by-roll-back.ts'
import { attacksOnAccess } from './attacks-on-access.ts'
import { attacksOnHolds } from './attacks-on-holds.ts'
import { attacksOnFigures } from './attacks-on-metrics.ts'
import { attacksOnRecords } from './attacks-on-records.ts'
import { attacksOnTheLog } from './attacks-on-the-log.ts'

/**
 * What somebody does who has the database in their hands, as its superuser, but not the master key of the service; and what
 * finds it. docs/attacks.md has the same table: the test compares them.
 */
export const attacks: readonly Attack[] = [
  ...attacksOnRecords,
  ...attacksOnTheLog,
  ...attacksOnHolds,
  ...attacksOnAccess,
  ...attacksOnFigures,
  ...attacksByRollBack,
]

/** As docs/attacks.md has it. */
export function tableOf(rows: readonly Attack[] = attacks): string {
  const columns = Object.entries(detectors) as [Detector, string][]
  return [
    `| Attack | ${columns.map(([, title]) => title).join(' | ')} |`,
    `|---|${columns.map(() => '---|').join('')}`,
    ...rows.map(
      ({ name, foundBy }) =>
        `| ${name} | ${columns.map(([id]) => (foundBy.includes(id) ? 'found' : '–')).join(' | ')} |`,
    ),
  ].join('\n')
}
