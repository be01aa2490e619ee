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
  if (token === undefined && reader.isSet('HUB_VAULT_TOKEN')) return undefined
  if (token === undefined || !/^[\x21-\x7e]+$/.test(token)) {
    reader.report(
      'HUB_VAULT_TOKEN',
      'is not set, or is not a token.',
      'Set it to a Vault token with a policy for the keys of the Hub.',
    )
    return undefined
  }
  return address === undefined
    ? undefined
    : Object.freeze({ address, token, ...(namespace !== undefined && { namespace }) })
}

/** Allows key names of one tenant, or of each tenant by its slug. */
export interface KeyNameRule {
  /** The slug of the only tenant that may use the rule. */
  readonly tenant?: string
  /** The pattern: `{tenant}` stands for the slug, `*` for any characters except `/` and `:`. */
  readonly pattern: string
}

/** The rules by provider. Keys of the local keyring always belong to the tenant. */
export interface KeyNameRules {
  readonly vault: readonly KeyNameRule[]
  readonly 'aws-kms': readonly KeyNameRule[]
}

const defaults = {
  vault: 'hub-{tenant},hub-{tenant}_*',
  'aws-kms': 'alias/hub/{tenant},alias/hub/{tenant}/*',
}

/** Reads HUB_VAULT_KEYS and HUB_KMS_KEYS. */
export function readKeyNameRules(reader: SettingReader): KeyNameRules {
  return Object.freeze({
    vault: readRules(reader, 'HUB_VAULT_KEYS', defaults.vault, (pattern) =>
      pattern.slice(0, pattern.lastIndexOf('/') + 1).includes('*') ? 'has a * in the path of the engine' : undefined,
    ),
    'aws-kms': readRules(reader, 'HUB_KMS_KEYS', defaults['aws-kms']),
  })
}

function readRules(
  reader: SettingReader,
  variable: string,
  fallback: string,
  furtherProblem: (pattern: string) => string | undefined = () => undefined,
): readonly KeyNameRule[] {
  const rules: KeyNameRule[] = []
  for (const entry of (reader.text(variable) ?? fallback).split(',')) {
    const text = entry.trim()
    if (text === '') continue
    const [, tenant, pattern = text] = /^([a-z][a-z0-9-]{1,62})=(.*)$/.exec(text) ?? []
    const problem = problemOf(tenant, pattern) ?? furtherProblem(pattern)
    if (problem === undefined) rules.push(Object.freeze({ ...(tenant !== undefined && { tenant }), pattern }))
    else {
      const fix = `Separate patterns by commas, such as ${fallback},acme=<name of a key of the tenant acme>.`
      reader.report(variable, `has "${text}", which ${problem}.`, fix)
    }
  }
  return Object.freeze(rules)
}

function problemOf(tenant: string | undefined, pattern: string): string | undefined {
  if (!/^([A-Za-z0-9:/_.*-]|\{tenant\})+$/.test(pattern)) return 'is not a pattern of key names'
  const places = pattern.split('{tenant}').length - 1
  if (places > 1) return 'has {tenant} more than once'
  if (tenant !== undefined) return places === 0 ? undefined : 'names a tenant and has {tenant}'
  if (places === 0) return 'is for all tenants: it neither has {tenant} nor begins with the slug of one and ='
  // A slug has letters, digits and hyphens: hub-{tenant}-* would let acme name the keys of acme-eu.
  if (/\*[a-z0-9-]*\{tenant\}|\{tenant\}[a-z0-9-]*\*/.test(pattern)) {
    return 'has no character between {tenant} and * that a slug cannot have, such as _ or /'
  }
  return undefined
}
