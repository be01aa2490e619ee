import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../../server/config.ts'
import { findMasterKey } from '../../../server/db/master-key.ts'
import { openTokenKey } from '../../../server/modules/keys/token-key.ts'
import { deriveKey } from '../../../server/secrets/encryption.ts'
import { StartupError } from '../../../server/startup-error.ts'
import { type ExaminedDatabase, hasCluster } from '../examined-database.ts'
import { type Finding, ok, problem } from '../finding.ts'

export const masterKeyCheck = 'master key'
const restore = 'Restore HUB_MASTER_KEY or the file master.key from your copy: no other key decrypts the stored keys.'
const readableByGroupOrOthers = 0o077

/** Looks for the master key, and whether other users can read its file. Creates none. */
export async function checkMasterKey(config: Config): Promise<{ key: Buffer | undefined; findings: Finding[] }> {
  const file = join(config.dataDir, 'master.key')
  let key: Buffer | undefined
  try {
    key = await findMasterKey(config)
  } catch (error) {
    const fix = error instanceof StartupError ? error.fix : `Make ${file} readable for this user.`
    return { key, findings: [problem(masterKeyCheck, (error as Error).message, fix)] }
  }
  if (key === undefined) {
    if (config.databaseUrl === undefined && hasCluster(config)) {
      return { key, findings: [problem(masterKeyCheck, `${file} is missing, but the database exists.`, restore)] }
    }
    return { key, findings: [] }
  }
  if (config.masterKey) return { key, findings: [] }
  const { mode } = await stat(file)
  if ((mode & readableByGroupOrOthers) === 0) return { key, findings: [] }
  const detail = `${file} has mode ${(mode & 0o777).toString(8)}, so other users can read it.`
  return {
    key,
    findings: [problem(masterKeyCheck, detail, `Run: chmod 600 ${file}, and rotate the keys if others have access.`)],
  }
}

/** Compares the key with the database: its logins derive from the key, and its private keys decrypt with it only. */
export async function checkKeyFits(database: ExaminedDatabase, key: Buffer | undefined): Promise<Finding[]> {
  const { logins, tokenKeys } = await database.read(async (client) => {
    const { rows: found } = await client.query<{ name: string }>(
      `select r.rolname::text as name from pg_namespace n, aclexplode(n.nspacl) a join pg_roles r on r.oid = a.grantee
       where n.nspname = 'hub' and a.privilege_type = 'USAGE' and r.rolname ~ '^hub_app_[0-9a-f]{8}$'`,
    )
    const { rows: keys } = await client.query<Parameters<typeof openTokenKey>[0]>('select * from hub.token_keys')
    return { logins: found.map(({ name }) => name), tokenKeys: keys }
  })
  if (key === undefined)
    return [problem(masterKeyCheck, 'There is none, but the database was created with one.', restore)]
  if (logins.length > 0 && !logins.includes(database.logins?.app ?? '')) {
    return [problem(masterKeyCheck, 'The database was created with a different master key.', restore)]
  }
  const sealingKey = deriveKey(key, 'token keys')
  const failed = tokenKeys.filter((row) => !opens(row, sealingKey))
  if (failed.length === 0) return [ok(masterKeyCheck, 'It decrypts the stored keys.')]
  const detail = `It does not decrypt ${failed.length} of ${tokenKeys.length} keys of access tokens: ${failed[0]?.key_id}.`
  return [problem(masterKeyCheck, detail, restore)]
}

function opens(row: Parameters<typeof openTokenKey>[0], sealingKey: Buffer): boolean {
  try {
    openTokenKey(row, sealingKey)
    return true
  } catch {
    return false
  }
}
