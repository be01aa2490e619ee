import { chmod, cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { freshDataDirectory, isRunning, removeDataDirectories, serverPid } from '../support/data-directory.ts'
import { type DatabaseProcess, endProcesses, openInProcess } from '../support/database-process.ts'

afterEach(async () => {
  await endProcesses()
  await removeDataDirectories()
})

function open(purpose: 'serve' | 'command', dataDir: string, more: Record<string, string> = {}): DatabaseProcess {
  return openInProcess({ purpose, env: { HUB_DATA_DIR: dataDir, ...more }, url: 'http://127.0.0.1:4711' })
}

describe('a data directory', () => {
  test.each([
    ['with spaces, quotes and commas', `my data, "quoted" 'n all`],
    ['with letters beyond ASCII', 'données-データ'],
    ['too long for a socket', 'long-'.repeat(30)],
  ])('%s', async (_, name) => {
    const dataDir = await freshDataDirectory(name)
    const first = open('serve', dataDir)
    expect((await first.said('ready')).applied).toContain('0001-foundation')
    expect(await first.ask('write acme')).toEqual({ write: 'ok' })
    await first.ask('stop')
    expect(await first.ended).toBe(0)
    const second = open('serve', dataDir)
    expect((await second.said('ready')).applied).toEqual([])
    expect(await second.ask('read acme')).toEqual({ read: 1 })
  })

  test('holds the key of this user alone, and nothing that others may read', async () => {
    const dataDir = await freshDataDirectory()
    await open('serve', dataDir).said('ready')
    for (const name of await readdir(dataDir)) {
      expect((await stat(join(dataDir, name))).mode & 0o077, name).toBe(0)
    }
  })

  test('is served on a socket below it, and on no TCP port', async () => {
    const dataDir = await freshDataDirectory()
    await open('serve', dataDir).said('ready')
    // Lines 5 and 6 of the server's own file: directory of the socket, first address it listens on.
    const lines = (await readFile(join(dataDir, 'pg', 'postmaster.pid'), 'utf8')).split('\n')
    expect(lines.slice(4, 6)).toEqual([join(dataDir, 'run'), ''])
  })

  test('leaves no server behind when stopped', async () => {
    const dataDir = await freshDataDirectory()
    const service = open('serve', dataDir)
    await service.said('ready')
    const pid = await serverPid(dataDir)
    await service.ask('stop')
    await service.ended
    expect(isRunning(pid)).toBe(false)
    expect(await readdir(dataDir)).not.toContain('serve.json')
    expect(await readFile(join(dataDir, 'postgresql.log'), 'utf8')).toContain('database system is shut down')
  })
})

describe('beside another process', () => {
  test('a second serve says who serves and where, and changes nothing', async () => {
    const dataDir = await freshDataDirectory()
    const first = open('serve', dataDir)
    await first.said('ready')
    const second = open('serve', dataDir)
    const refusal = await second.said('failed')
    expect(refusal.failed).toContain(`process ${first.pid} at http://127.0.0.1:4711`)
    expect(await second.ended).toBe(1)
    expect(await first.ask('ping')).toEqual({ ping: 'ok' })
  })

  test('a command works beside a serve, and leaves its server alone', async () => {
    const dataDir = await freshDataDirectory()
    const service = open('serve', dataDir)
    await service.said('ready')
    const command = open('command', dataDir)
    await command.said('ready')
    expect(await command.ask('write acme')).toEqual({ write: 'ok' })
    await command.ask('stop')
    expect(await service.ask('read acme')).toEqual({ read: 1 })
  })

  test('a serve waits for a command that started the server, then serves', async () => {
    const dataDir = await freshDataDirectory()
    const command = open('command', dataDir)
    await command.said('ready')
    const service = open('serve', dataDir)
    await delay(1_000)
    expect(await command.ask('write acme')).toEqual({ write: 'ok' })
    await command.ask('stop')
    await service.said('ready')
    expect(await service.ask('read acme')).toEqual({ read: 1 })
  })

  test('a command that started the server waits for another that works on it', async () => {
    const dataDir = await freshDataDirectory()
    const first = open('command', dataDir)
    await first.said('ready')
    const second = open('command', dataDir)
    await second.said('ready')
    const stopped = first.ask('stop')
    await delay(500)
    expect(await second.ask('write acme')).toEqual({ write: 'ok' })
    await second.ask('stop')
    await stopped
  })

  test('of several first starts at once, one serves', async () => {
    const dataDir = await freshDataDirectory()
    const all = [1, 2, 3].map(() => open('serve', dataDir))
    const outcomes = await Promise.all(
      all.map((each) =>
        Promise.any([each.said('ready').then(() => 'ready'), each.said('failed').then(() => 'failed')]),
      ),
    )
    expect(outcomes.sort()).toEqual(['failed', 'failed', 'ready'])
  })

  test('several commands at once share one server', async () => {
    const dataDir = await freshDataDirectory()
    const all = [1, 2, 3].map(() => open('command', dataDir))
    await Promise.all(all.map((each) => each.said('ready')))
    await Promise.all(all.map((each) => each.ask('stop')))
    expect(await Promise.all(all.map((each) => each.ended))).toEqual([0, 0, 0])
  })
})

describe('what an operator must mend', () => {
  const root = process.getuid?.() === 0

  test(
    root ? 'a parent that the server’s user cannot enter is named' : 'a parent that cannot be written is named',
    async () => {
      const dataDir = await freshDataDirectory(join('barred', 'inner', 'data'))
      const barred = dirname(dirname(dataDir))
      await mkdir(dirname(dataDir), { recursive: true })
      // Root is barred by no mode, but its server is; an ordinary user is barred from writing.
      const [closed, mode] = root ? [barred, 0o700] : [dirname(dataDir), 0o500]
      await chmod(closed, mode)
      const refusal = await open('serve', dataDir).said('failed')
      expect(refusal.failed).toContain(root ? `has no access to ${barred},` : 'EACCES')
      expect(refusal.fix).toContain(root ? `chmod o+x ${barred}` : 'HUB_DATA_DIR')
      await chmod(closed, 0o700)
    },
  )

  test('data of another major version is left as it is, with what to do', async () => {
    const dataDir = await freshDataDirectory()
    const first = open('serve', dataDir)
    await first.said('ready')
    await first.ask('stop')
    const version = join(dataDir, 'pg', 'PG_VERSION')
    const current = await readFile(version, 'utf8')
    for (const [fake, direction] of [
      ['15', 'older'],
      ['99', 'newer'],
    ]) {
      await writeFile(version, `${fake}\n`)
      const refusal = await open('serve', dataDir).said('failed')
      expect(refusal.failed).toMatch(new RegExp(`PostgreSQL ${fake}, which is ${direction} than the ${current.trim()}`))
      expect(refusal.fix).toContain('pg_dumpall')
      expect(await readFile(version, 'utf8')).toBe(`${fake}\n`)
    }
    await writeFile(version, current)
    await open('serve', dataDir).said('ready')
  })

  test('a different master key is noticed, and the data is unchanged', async () => {
    const dataDir = await freshDataDirectory()
    const first = open('serve', dataDir)
    await first.said('ready')
    await first.ask('stop')
    await first.ended
    const HUB_MASTER_KEY = Buffer.alloc(32, 5).toString('base64')
    const wrong = open('serve', dataDir, { HUB_MASTER_KEY })
    expect((await wrong.said('failed')).failed).toContain('different master key')
    expect(await wrong.ended).toBe(1)
    await open('serve', dataDir).said('ready')
  })

  test('a directory that holds something else is not touched', async () => {
    const dataDir = await freshDataDirectory()
    await mkdir(join(dataDir, 'pg'), { recursive: true })
    await writeFile(join(dataDir, 'pg', 'precious.txt'), 'x')
    expect((await open('serve', dataDir).said('failed')).failed).toContain('is not a PostgreSQL data directory')
    expect(await readdir(join(dataDir, 'pg'))).toEqual(['precious.txt'])
  })
})

test('a first start that was killed in the middle, at any point, is begun anew', async () => {
  const dataDir = await freshDataDirectory()
  for (const ms of [250, 400, 550, 700, 900]) {
    const victim = open('serve', dataDir)
    await delay(ms)
    victim.kill('SIGKILL')
    await victim.ended
  }
  const service = open('serve', dataDir)
  await service.said('ready')
  expect(await service.ask('write acme')).toEqual({ write: 'ok' })
})

test('a half-made cluster of an earlier start does not stop a new one', async () => {
  const dataDir = await freshDataDirectory()
  const draft = join(dataDir, 'pg.new-0123456789ab')
  await mkdir(draft, { recursive: true })
  await chmod(dataDir, 0o711)
  await cp(import.meta.filename, join(draft, 'half'))
  await open('serve', dataDir).said('ready')
})
