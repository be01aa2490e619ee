import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCli } from '../cli/run-cli.ts'

test('without a server, commands run on an embedded database of their own', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hub-cli-'))
  const env = { HUB_DATA_DIR: dataDir }
  try {
    const migrated = await runCli(['migrate', '--json'], env)
    expect(migrated.stderr).toBe('')
    expect(JSON.parse(migrated.stdout).applied).toContain('0001-foundation')

    const made = await runCli(
      ['tenant', 'create', 'solo', '--mode', 'A', '--admin-email', 'a@solo.example', '--json'],
      env,
    )
    expect(JSON.parse(made.stdout)).toMatchObject({
      tenant: 'solo',
      welcome_url: expect.stringContaining('/welcome/solo/'),
    })
    // A second process opens what the first one sealed.
    const again = await runCli(['tenant', 'welcome-link', 'solo', '--json'], env)
    expect(JSON.parse(again.stdout).admin_email).toBe('a@solo.example')
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})
