import { execFile } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { type HubProcess, hubCommand, makeTenant, startHubProcess } from '../support/hub-process.ts'
import { runnersOf } from '../support/page-snippets.ts'

const root = resolve(import.meta.dirname, '../..')

let hub: HubProcess | undefined
afterAll(async () => {
  await hub?.stop()
  await removeDataDirectories()
})

test.each(
  runnersOf('docs/import.md', {
    'Import telemetry from files: sh': async (code: string) => {
      const dataDir = await freshDataDirectory()
      hub = await startHubProcess(dataDir)
      const { tenant, clientId, clientSecret } = await makeTenant(dataDir, 'acme')
      await hubCommand(dataDir, 'archetypes', 'set', '--tenant', tenant, 'support-agent')
      const client = new HubClient({ baseUrl: hub.url, tenant, clientId, clientSecret })
      const skill = { skill_id: 'summarise-ticket', skill_version: '1.0.0', name: 'Summarise a ticket' }
      await client.records.write({ record_type: 'skill_definition', ...skill })
      // The command keeps its progress beside the file.
      const examples = join(dataDir, 'import')
      await cp(join(root, 'examples/import'), examples, { recursive: true })
      const filled = code
        .replace('https://hub.example.com', hub.url)
        .replace('HUB_CLIENT_ID=…', `HUB_CLIENT_ID=${clientId}`)
        .replace('HUB_CLIENT_SECRET=…', `HUB_CLIENT_SECRET=${clientSecret}`)
        .replaceAll('examples/import', examples)
      const env = { PATH: process.env.PATH, HOME: dataDir }
      await promisify(execFile)('bash', ['-ec', filled], { cwd: root, env })
      const rows: { request_id: string }[] = JSON.parse(
        await readFile(join(examples, 'litellm-spend-logs.json'), 'utf8'),
      )
      const stored = await Array.fromAsync(client.records.list({ record_type: 'telemetry_event' }))
      expect(stored).toMatchObject([
        { skill_id: 'summarise-ticket', archetype_id: 'support-agent', success: true },
        { skill_id: 'summarise-ticket', archetype_id: 'support-agent', success: false },
      ])
      expect(stored).toHaveLength(rows.length)
    },
  }),
)('docs/import.md, $name', ({ code, run }) => run(code))
