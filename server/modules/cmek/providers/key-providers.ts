import { join } from 'node:path'
import { DomainError } from '../../../../contract/domain-error.ts'
import type { Config } from '../../../config.ts'
import type { KeyChoice, KeyProvider } from '../cmek-types.ts'
import { openAwsKms } from './aws-kms.ts'
import { openLocalKeyring } from './local-keyring.ts'
import { openVaultTransit } from './vault-transit.ts'

/** The key providers that the operator has configured; others are absent. */
export type KeyProviders = Partial<Record<KeyChoice['provider'], KeyProvider>>

/** Opens the configured providers. Creates and requests nothing before the first use. */
export function openKeyProviders(
  config: Pick<Config, 'dataDir' | 'aws' | 'keyringDir' | 'vault'>,
  masterKey: Buffer,
): KeyProviders {
  return {
    local: openLocalKeyring(config.keyringDir ?? join(config.dataDir, 'keyring'), masterKey),
    'aws-kms': openAwsKms(config.aws),
    ...(config.vault && { vault: openVaultTransit(config.vault) }),
  }
}

/** Returns a provider by name. Throws DomainError `hub-unavailable` if it is not configured (any more). */
export function providerNamed(providers: KeyProviders, name: string): KeyProvider {
  const provider = Object.hasOwn(providers, name) ? providers[name as KeyChoice['provider']] : undefined
  if (provider) return provider
  throw new DomainError('hub-unavailable', `The keys of this tenant are at ${name}, which is not configured here.`, {
    retryAfterSeconds: 60,
  })
}
