/** Literal values and formats of the interface and decisions section 1. */

export const recordTypes = [
  'output',
  'artifact',
  'decision',
  'governance_event',
  'telemetry_event',
  'skill_definition',
] as const
export type RecordType = (typeof recordTypes)[number]

export const skillStates = ['draft', 'published', 'deprecated', 'retired'] as const
export type SkillState = (typeof skillStates)[number]

export const tenantModes = ['A', 'B', 'C'] as const
export type TenantMode = (typeof tenantModes)[number]

export const schemaVersion = '1.0'

export const platforms = ['claude', 'chatgpt', 'gemini', 'copilot', 'slack'] as const

export const patterns = {
  tenantSlug: '^[a-z][a-z0-9-]{1,62}$',
  identifier: '^[A-Za-z0-9_.:-]{1,128}$',
  llmModel: '^[A-Za-z0-9_.:/@-]{1,128}$',
  userId: '^user:[^\\s]{1,254}$',
  llmPlatform: `^(${platforms.join('|')}|custom:[a-z0-9][a-z0-9._-]{0,62})$`,
  /** Semantic Versioning 2.0.0, the expression its specification suggests. */
  semver:
    '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(-((0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)(\\.(0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*))*))?(\\+[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?$',
  uuid: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
  traceId: '^[0-9a-f]{32}$',
  spanId: '^[0-9a-f]{16}$',
  idempotencyKey: '^[\\x21-\\x7e]{1,255}$',
  /** Matches an address that is safe in a mail header: one @, no invisible characters, no address separators. */
  email: '^[^\\s@\\p{C}<>()\\[\\],;:\\\\"]+@[^\\s@\\p{C}<>()\\[\\],;:\\\\"]+$',
} as const

/** Completes "must be …" in the error of each pattern. */
export const patternWords: Readonly<Record<string, string>> = {
  [patterns.tenantSlug]: 'a letter, then 1 to 62 of the characters a-z 0-9 -',
  [patterns.identifier]: '1 to 128 of the characters A-Z a-z 0-9 _ . : -',
  [patterns.llmModel]: '1 to 128 of the characters A-Z a-z 0-9 _ . : / @ -',
  [patterns.userId]: 'user:<email> or user:<scim_external_id>, without spaces and at most 259 characters',
  [patterns.llmPlatform]: `${platforms.join(', ')} or custom:<name>, the name in a-z 0-9 . _ -`,
  [patterns.semver]: 'a semantic version such as 1.4.0',
  [patterns.uuid]: 'a UUID, with hyphens',
  [patterns.traceId]: '32 hexadecimal digits in lower case',
  [patterns.spanId]: '16 hexadecimal digits in lower case',
  [patterns.idempotencyKey]: '1 to 255 visible ASCII characters',
  [patterns.email]: 'an e-mail address',
}

/** Text search configurations of PostgreSQL 15 and later, for the tenant setting `search_language`. */
export const searchLanguages = [
  'simple',
  'arabic',
  'armenian',
  'basque',
  'catalan',
  'danish',
  'dutch',
  'english',
  'finnish',
  'french',
  'german',
  'greek',
  'hindi',
  'hungarian',
  'indonesian',
  'irish',
  'italian',
  'lithuanian',
  'nepali',
  'norwegian',
  'portuguese',
  'romanian',
  'russian',
  'serbian',
  'spanish',
  'swedish',
  'tamil',
  'turkish',
  'yiddish',
] as const
export type SearchLanguage = (typeof searchLanguages)[number]
