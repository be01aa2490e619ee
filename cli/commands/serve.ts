import type { Command } from 'commander'
import { loadConfig } from '../../server/config.ts'

interface Flags {
  port?: string
  host?: string
  dataDir?: string
  role?: string
  workers?: string
}

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .alias('start')
    .description('Run the Hub: API, background jobs and, unless HUB_DATABASE_URL is set, its own PostgreSQL')
    .option('--port <number>', 'port to listen on; overrides HUB_PORT')
    .option('--host <address>', 'address to listen on; overrides HUB_HOST')
    .option('--data-dir <path>', 'where the data is; overrides HUB_DATA_DIR')
    .option('--role <role>', 'all, api or worker; overrides HUB_ROLE')
    .option('--workers <number>', 'processes that answer requests, 1 to 64; overrides HUB_WORKERS')
    .action(async (flags: Flags) => {
      // Loaded only here: the other commands do not need the HTTP server.
      const { serve } = await import('../../server/main.ts')
      await serve(loadConfig(process.env, flags))
    })
}
