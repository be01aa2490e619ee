import { access, constants } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { readStorageUrl } from '../../../server/config/storage-url.ts'
import type { Config } from '../../../server/config.ts'
import { checkMailServer } from '../../../server/mail/mailer.ts'
import { openStorage } from '../../../server/storage/open-storage.ts'
import { type Finding, ok, problem } from '../finding.ts'

const patienceMs = 10_000
const connectMs = 3_000

/** Asks the other services that the configuration names whether they answer. Writes nothing there. */
export function checkNeighbours(config: Config): Promise<Finding[]> {
  const checks = [checkFiles(config)]
  if (config.valkeyUrl !== undefined) checks.push(checkValkey(config.valkeyUrl))
  if (config.smtpUrl !== undefined) checks.push(checkMail(config.smtpUrl))
  return Promise.all(checks)
}

async function checkValkey(url: string): Promise<Finding> {
  const client = new Redis(url.replace(/^valkey/, 'redis'), {
    ...{ protocol: 2, lazyConnect: true, connectTimeout: connectMs, maxRetriesPerRequest: 0 },
    ...{ retryStrategy: () => null, disableClientInfo: true },
  })
  let reason = ''
  client.on('error', (error: Error & { code?: string }) => {
    reason = error.message || (error.code ?? '')
  })
  try {
    await within(client.connect().then(() => client.ping()))
    return ok('valkey', 'It answers.')
  } catch (error) {
    const detail = `It does not answer: ${reason || (error as Error).message}.`
    return problem('valkey', detail, 'Start it, or correct HUB_VALKEY_URL. Each process counts limits alone meanwhile.')
  } finally {
    client.disconnect()
  }
}

async function checkMail(url: string): Promise<Finding> {
  try {
    await checkMailServer(url)
    return ok('mail', 'The mail server accepts the login.')
  } catch (error) {
    return problem('mail', (error as Error).message, 'Correct HUB_SMTP_URL, or start the mail server.')
  }
}

async function checkFiles(config: Config): Promise<Finding> {
  const { storageUrl, dataDir } = config
  const settings = storageUrl === undefined ? undefined : readStorageUrl(storageUrl, config.aws)
  const storage = openStorage(config)
  try {
    await within(storage.size('checks/doctor'))
    if (settings?.kind !== 's3') await requireWritable(settings?.directory ?? join(dataDir, 'storage'))
    return ok('files', `${storage.place} can be used.`)
  } catch (error) {
    const reason = ((error as Error).cause ?? error) as NodeJS.ErrnoException
    const why = reason.message || reason.code || reason.name
    const action = 'Correct HUB_STORAGE_URL, its credentials or the rights of the directory. Exports and erasures wait.'
    return problem('files', `${storage.place} cannot be used: ${why}.`, action)
  }
}

/** Requires that the nearest folder that exists can be written to: the service creates its folders on first use. */
async function requireWritable(path: string): Promise<void> {
  try {
    await access(path, constants.W_OK | constants.X_OK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error
    await requireWritable(dirname(path))
  }
}

async function within<T>(work: Promise<T>): Promise<T> {
  const stop = new AbortController()
  const late = delay(patienceMs, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`no answer within ${patienceMs / 1000} s`)
  })
  late.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    stop.abort()
  }
}
