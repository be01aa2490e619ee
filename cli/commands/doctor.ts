import type { Command } from 'commander'
import { lineOf, severities, worstOf } from '../doctor/finding.ts'
import { type OutputOptions, printResult } from '../output.ts'

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'Check configuration, database, clock, disk, keys, queues and checkpoints, with or without a running server. ' +
        'Changes nothing. Exit code 0: all is good, 1: warnings, 2: problems.',
    )
    .option('--json', 'print one JSON object')
    .action(async (options: OutputOptions) => {
      const { examine } = await import('../doctor/examine.ts')
      const checks = await examine({ env: process.env })
      const status = worstOf(checks)
      printResult(options, { status, checks }, checks.map(lineOf).join('\n'))
      process.exitCode = severities.indexOf(status)
    })
}
