import { isAbsolute } from 'node:path'
import type { SettingReader } from './setting-reader.ts'

/** Settings of HashiCorp Vault, or of a service with the same API. */
export interface VaultSettings {
  /** The address, without a trailing slash. */
  readonly address: string
  readonly token: string
  readonly namespace?: string
}

/** Reads HUB_KEYRING_DIR. */
export function readKeyringDirectory(reader: SettingReader): string | undefined {
  const directory = reader.text('HUB_KEYRING_DIR')
  if (directory === undefined || isAbsolute(directory)) return directory
  reader.report('HUB_KEYRING_DIR', `is "${directory}".`, 'Use an absolute path, such as /var/lib/hub-keyring')
  return undefined
}

/** Reads HUB_VAULT_ADDR, HUB_VAULT_TOKEN and HUB_VAULT_NAMESPACE. */
export function readVault(reader: SettingReader, environment: string): VaultSettings | undefined {
  const address = reader.origin('HUB_VAULT_ADDR', { httpsOnly: environment !== 'development' })
  const token = reader.text('HUB_VAULT_TOKEN')
  const namespace = reader.text('HUB_VAULT_NAMESPACE')
  if (reader.text('HUB_VAULT_ADDR') === undefined) {
    if (token !== undefined) {
      reader.report('HUB_VAULT_TOKEN', 'is set, but HUB_VAULT_ADDR is not.', 'Set both, or neither.')
    }
    return undefined
  }
  if (token === undefined || !/^[\x21-\x7e]+$/.test(token)) {
    reader.report(
      'HUB_VAULT_TOKEN',
      'is not set, or is no token.',
      'Give the Hub a token of Vault with a policy for its keys.',
    )
    return undefined
  }
  return address === undefined
    ? undefined
    : Object.freeze({ address, token, ...(namespace !== undefined && { namespace }) })
}
