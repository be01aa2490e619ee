import type { SettingReader } from './setting-reader.ts'

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
  if (!/^([A-Za-z0-9:/_.*-]|\{tenant\})+$/.test(pattern)) return 'is no pattern of names of keys'
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
