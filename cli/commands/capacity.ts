import { type Command, InvalidArgumentError } from 'commander'
import { type CapacityPlan, type ExpectedLoad, type Machine, planCapacity } from '../capacity/capacity-plan.ts'
import { example, type OutputOptions, printResult } from '../output.ts'
import { wholeNumber } from '../query-options.ts'

export function addCapacityCommand(program: Command): void {
  program
    .command('capacity')
    .description('Estimate cores, disk and WAL for a load, from the measured costs of an event. Reads no settings')
    .requiredOption('--events-per-day <n>', 'telemetry events of all tenants', wholeNumber(1, 1e12))
    .option('--events-per-request <n>', 'size of a batch; 1 for single events', wholeNumber(1, 1000), 100)
    .option('--peak <factor>', 'rate of the busiest minute, as a multiple of the mean of a day', factor, 5)
    .option('--retention-days <n>', 'days that events are kept', wholeNumber(1, 36_500), 365)
    .option('--tenants <n>', 'number of tenants', wholeNumber(1, 1e6), 1)
    .option('--cores <n>', 'cores of a machine to plan with', wholeNumber(1, 1024), 16)
    .option('--disk-gb <n>', 'disk of a machine to plan with, in GB', wholeNumber(1, 1e6), 2000)
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('capacity --events-per-day 1500000 --tenants 20'))
    .action((options: OutputOptions & ExpectedLoad & Machine) => {
      const plan = planCapacity(options, options)
      printResult(options, plan, planText(plan))
    })
}

function factor(text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= 1 && value <= 1000) return value
  throw new InvalidArgumentError('It must be a number from 1 to 1000.')
}

function planText(plan: CapacityPlan): string {
  const { events_per_second: rate, cores, wal_bytes: wal } = plan
  return [
    `Rate      ${number(rate.mean)} events/s on average, ${number(rate.peak)} at the peak`,
    `Requests  ${number(plan.requests_per_minute_of_tenant)} a minute for each tenant at the peak`,
    `Cores     ${coresText(cores.hub)} for the Hub, ${coresText(cores.database)} for PostgreSQL, 60 % busy at the peak`,
    `Stored    ${number(plan.stored_events)} events`,
    `Disk      ${bytes(plan.disk_bytes)}, a third of it free`,
    `WAL       ${bytes(wal.per_day)} a day, ${bytes(wal.per_second_at_peak)}/s at the peak`,
    ...plan.advice.map((advice) => `          ${advice}`),
  ].join('\n')
}

function coresText(cores: number): string {
  return cores < 0.1 ? 'less than 0.1' : number(cores)
}

function number(value: number): string {
  return value.toLocaleString('en-US', value < 100 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 0 })
}

/** Returns decimal units, as disks are sold. */
function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)))
  return `${number(value / 1000 ** step)} ${units[step]}`
}
