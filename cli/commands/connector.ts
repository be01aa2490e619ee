import type { Command } from 'commander'
import { type ConnectorFlags, loadConnectorConfig, spoolDirectoryOf } from '../connector/connector-config.ts'
import { readSpoolFigures } from '../connector/connector-status.ts'
import { createSpoolDecisions, type SpoolDecisions } from '../connector/spool-admin.ts'
import { openSpoolDatabase } from '../connector/spool-database.ts'
import { example, type OutputOptions, printResult } from '../output.ts'

type SpoolOptions = OutputOptions & Pick<ConnectorFlags, 'spool'>

const listedMax = 1000

export function addConnectorCommand(program: Command): void {
  const connector = program
    .command('connector')
    .description(
      'Forward telemetry of a Mode C tenant: take events on loopback, keep them on disk, send them to the Hub',
    )
    .option('--hub-url <url>', 'address of the Hub; overrides HUB_CONNECTOR_HUB_URL')
    .option('--hub-moved', 'the Hub is the one that the spool knows, at a new address')
    .option('--tenant <slug>', 'whose events they are; overrides HUB_CONNECTOR_TENANT')
    .option('--port <number>', 'port to listen on; overrides HUB_CONNECTOR_PORT (8090)')
    .option('--host <address>', 'address to listen on; overrides HUB_CONNECTOR_HOST (127.0.0.1)')
    .option('--spool <directory>', 'where events wait; overrides HUB_CONNECTOR_SPOOL (.hub-connector)')
    .option('--spool-max-mib <number>', 'size at which it rejects more; overrides HUB_CONNECTOR_SPOOL_MAX_MIB (1024)')
    .option(
      '--retry-max-seconds <number>',
      'longest pause between attempts; overrides HUB_CONNECTOR_RETRY_MAX_SECONDS (60)',
    )
    .addHelpText(
      'after',
      `\nHUB_CONNECTOR_CLIENT_ID and HUB_CONNECTOR_CLIENT_SECRET, or HUB_CONNECTOR_CLIENT_SECRET_FILE, are those of a
service account with telemetry:write, and best telemetry:read too.
${example('connector --hub-url https://hub.example.com --tenant acme')}`,
    )
    .action(async (flags: ConnectorFlags) => {
      const config = loadConnectorConfig(process.env, flags)
      // Loaded only here: the commands below do not need the HTTP server.
      const { runConnector } = await import('../connector/run-connector.ts')
      await runConnector(config)
    })

  addStatusCommand(connector)
  addRefusedCommand(connector)
  addUncertainCommand(connector)
}

function addStatusCommand(connector: Command): void {
  connector
    .command('status')
    .description('Figures of the spool, also while no connector runs')
    .option('--json', 'print one JSON object')
    .action((_flags: object, command: Command) => {
      const options = command.optsWithGlobals<SpoolOptions>()
      const database = openSpoolDatabase(spoolDirectoryOf(process.env, options), { make: false })
      const figures = readSpoolFigures(database)
      database.close()
      const { pending, refused, uncertain, totals } = figures
      const text = `${pending} pending, ${refused} refused, ${uncertain.events} uncertain; ${totals.accepted} accepted and ${totals.forwarded} forwarded in all`
      printResult(options, figures, text)
    })
}

function addRefusedCommand(connector: Command): void {
  connector
    .command('refused')
    .description('Events that the Hub has refused, and why')
    .option('--retry', 'send all of them once more, after the cause is mended')
    .option('--drop', 'forget all of them')
    .option('--json', 'print one JSON object')
    .action((_flags: object, command: Command) => {
      const options = command.optsWithGlobals<SpoolOptions & { retry?: boolean; drop?: boolean }>()
      if (options.retry && options.drop) command.error('error: --retry and --drop exclude each other')
      withDecisions(options, (decisions) => {
        if (options.retry) {
          const retried = decisions.retryRefused()
          return printResult(options, { retried }, `${retried} events wait to be sent again.`)
        }
        if (options.drop) {
          const dropped = decisions.dropRefused()
          return printResult(options, { dropped }, `${dropped} events are forgotten.`)
        }
        const refused = decisions.refused(listedMax)
        const lines = refused.map(({ sequence, slug, detail }) => `${sequence}  ${slug}  ${detail}`)
        return printResult(options, { refused }, lines.length > 0 ? lines.join('\n') : 'The Hub has refused nothing.')
      })
    })
}

function addUncertainCommand(connector: Command): void {
  connector
    .command('uncertain')
    .description('Batches whose delivery to the Hub is unknown')
    .option('--resend <key>', 'send its events again: when the Hub does not have them')
    .option('--drop <key>', 'forget its events: when the Hub has them')
    .option('--json', 'print one JSON object')
    .action((_flags: object, command: Command) => {
      const options = command.optsWithGlobals<SpoolOptions & { resend?: string; drop?: string }>()
      if (options.resend && options.drop) command.error('error: --resend and --drop exclude each other')
      withDecisions(options, (decisions) => {
        const key = options.resend ?? options.drop
        if (key !== undefined) {
          const events = options.resend ? decisions.resendUncertain(key) : decisions.dropUncertain(key)
          if (events === 0) command.error(`error: no batch ${key} is uncertain`)
          const done = options.resend ? 'wait to be sent again' : 'are forgotten'
          return printResult(options, { key, events }, `${events} events ${done}.`)
        }
        const uncertain = decisions.uncertain()
        const lines = uncertain.map(
          (each) => `${each.key}  ${each.events} events, sent ${each.sent_at}: ${each.reason}`,
        )
        return printResult(options, { uncertain }, lines.length > 0 ? lines.join('\n') : 'Nothing is uncertain.')
      })
    })
}

function withDecisions(options: SpoolOptions, work: (decisions: SpoolDecisions) => void): void {
  const database = openSpoolDatabase(spoolDirectoryOf(process.env, options), { make: false })
  try {
    work(createSpoolDecisions(database))
  } finally {
    database.close()
  }
}
