import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import { StartupError } from '../startup-error.ts'

/**
 * Returns the key from which all keys for secrets at rest derive: `HUB_MASTER_KEY`, else the file `master.key` of the
 * data directory, created on first use. Production never creates it, because its configuration requires the variable.
 *
 * @returns 32 bytes
 * @throws StartupError if the file cannot be created or is no key
 */
export async function loadMasterKey(config: Config): Promise<Buffer> {
  if (config.masterKey) return config.masterKey
  const file = join(config.dataDir, 'master.key')
  try {
    return (await readKey(file)) ?? (await createKey(file))
  } catch (cause) {
    if (cause instanceof StartupError) throw cause
    throw new StartupError(
      `The master key ${file} cannot be read or created: ${(cause as Error).message}`,
      'Make the data directory readable and writable for this user, or set HUB_MASTER_KEY.',
      { cause },
    )
  }
}

/**
 * Returns the key of {@link loadMasterKey} if it exists, else undefined.
 *
 * @throws StartupError if the file is no key
 */
export async function findMasterKey(config: Config): Promise<Buffer | undefined> {
  return config.masterKey ?? (await readKey(join(config.dataDir, 'master.key')))
}

async function readKey(file: string): Promise<Buffer | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length === 32) return key
  throw new StartupError(
    `The master key ${file} is damaged: it is not the base64 of 32 bytes.`,
    'Restore the file from a backup: without it the stored private keys cannot be decrypted.',
  )
}

/**
 * Writes the key to a draft and links it into place: a crash leaves no half key, and of two first starts one key wins.
 */
async function createKey(file: string): Promise<Buffer> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomBytes(32).toString('base64')}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  try {
    await link(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await unlink(draft)
  }
  const directory = await open(dirname(file), 'r')
  await directory.sync().finally(() => directory.close())
  const key = await readKey(file)
  if (!key) throw new Error('it disappeared after it was written')
  return key
}
