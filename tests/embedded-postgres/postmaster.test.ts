import { pbkdf2 } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { launchServer } from '../../server/embedded-postgres/postmaster.ts'

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hub-postmaster-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

test('a server that ends at once is reported, however busy the thread pool is', async () => {
  // Two rounds of work for every thread of the pool: file operations take longer than the server lives.
  let queued = 0
  const fill = () => {
    for (; queued < 8; queued += 1) pbkdf2('password', 'salt', 60_000, 64, 'sha512', () => (queued -= 1))
  }
  const filling = setInterval(fill, 1)
  try {
    const options = {
      layout: { dataDir, cluster: join(dataDir, 'pg'), log: join(dataDir, 'postgresql.log'), user: undefined },
      binaries: { postgres: '/bin/false', initdb: '/bin/false', major: 18 },
      socketDirectory: dataDir,
    }
    await expect(launchServer(options)).rejects.toThrow('it ended without a message')
  } finally {
    clearInterval(filling)
  }
})
