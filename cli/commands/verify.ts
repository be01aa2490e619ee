import type { Command } from 'commander'
import { example, exitFailure, type OutputOptions, printResult } from '../output.ts'
import { InconclusiveError } from '../verify/inconclusive-error.ts'
import { reportText } from '../verify/report-text.ts'
import { manifestFix, type VerifyOptions, verifyFile } from '../verify/verify-file.ts'

/** The exit code if the file could not be checked. */
const exitUnchecked = 2

const exitCodes = { verified: 0, failed: exitFailure, unchecked: exitUnchecked }

export function addVerifyCommand(program: Command): void {
  program
    .command('verify <file>')
    .description(
      'Verify an export (JSONL, CSV, Parquet, also .gz), an evidence pack (.tar.gz), or a record, a page of records, a proof bundle or a deletion certificate as ' +
        'the API answers it: without a server, and without a network unless an address is given. ' +
        'Rows of an export can be verified one by one only if it was ordered with include_provenance, which is false ' +
        'by default: without it, the signed manifest proves the file as a whole, and is needed. ' +
        'Exit code 0: all is good, 1: something is not, 2: it could not be checked.',
    )
    .option('--manifest <file or url>', 'the manifest of the export; default: FILE.manifest.json beside it')
    .option(
      '--keys <file or url>',
      'public keys to trust: what /.well-known/provenance-keys.json answers, or lines <name>+<hash>+<key>; ' +
        'default: those of the manifest itself (trust on first use)',
    )
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('verify exp_4Kd2.jsonl --keys provenance-keys.json'))
    .action(async (file: string, options: VerifyOptions & OutputOptions) => {
      try {
        const verification = await verifyFile(file, options)
        const { verified, checked, failed, missing, failures } = verification.report
        const { trust, outcome, manifest } = verification
        printResult(options, { verified, checked, failed, missing, trust, failures }, reportText(verification))
        process.exitCode = exitCodes[outcome]
        if (outcome === 'unchecked') {
          process.stderr.write(`hub: The manifest ${manifest?.place} cannot be read.\n${manifestFix}\n`)
        }
      } catch (error) {
        const text = error instanceof InconclusiveError ? `${error.message}\n${error.fix}` : unexpected(error)
        process.stderr.write(`hub: ${text}\n`)
        process.exitCode = exitUnchecked
      }
    })
}

/** Names only the kind of the error: a message may quote the content of the file. */
function unexpected(error: unknown): string {
  if (process.env.HUB_LOG_LEVEL === 'debug' || process.env.HUB_LOG_LEVEL === 'trace') console.error(error)
  const kind = error instanceof Error ? error.name : typeof error
  return `The file could not be checked (${kind}).\nThis was not expected. Set HUB_LOG_LEVEL=debug to see where it came from.`
}
