// A process of its own that opens the database as the service does, says so on stdout, and holds it until SIGTERM.
// Arguments: serve|command, and optionally a URL to announce.
import { loadConfig } from '../../server/config.ts'
import { type OpenedDatabase, openDatabase } from '../../server/db/open-database.ts'
import { StartupError } from '../../server/startup-error.ts'

const [purpose = 'command', url] = process.argv.slice(2)
const say = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`)
const log = {
  info() {},
  warn: (_: object, text: string) => say({ log: text }),
  error: (_: object, text: string) => say({ log: text }),
}

/** The result, or the slug of the error. */
async function answer(opened: OpenedDatabase, verb: string, slug: string): Promise<unknown> {
  try {
    if (verb === 'ping') {
      await opened.ping()
      return 'ok'
    }
    return await opened.withTenant(slug, async ({ db }) => {
      if (verb === 'write') {
        await db.insertInto('hub.archetypes').values({ tenant_id: slug, archetype_id: slug, name: null }).execute()
        return 'ok'
      }
      const rows = await db.selectFrom('hub.archetypes').select('name').where('tenant_id', '=', slug).execute()
      return rows.length
    })
  } catch (error) {
    return (error as { slug?: string }).slug ?? String(error)
  }
}

try {
  const began = performance.now()
  const opened = await openDatabase(loadConfig(), { purpose: purpose === 'serve' ? 'serve' : 'command', log })
  if (url) await opened.announce(url)
  say({ ready: true, ms: Math.round(performance.now() - began), applied: opened.migrationsApplied })
  let stopping = false
  const stop = async () => {
    if (stopping) return
    stopping = true
    await opened.stop()
    say({ stopped: true })
    process.exit(0)
  }
  process.on('SIGTERM', () => void stop())
  process.stdin.on('data', async (chunk: Buffer) => {
    const command = chunk.toString().trim()
    if (command === 'stop') await stop()
    const [verb = '', slug = ''] = command.split(' ')
    if (command !== 'stop') say({ [verb]: await answer(opened, verb, slug) })
  })
} catch (error) {
  if (!(error instanceof StartupError)) throw error
  say({ failed: error.message, fix: error.fix })
  process.exitCode = 1
}
