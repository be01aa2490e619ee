import { join } from 'node:path'
import { DomainError } from '../../../../contract/domain-error.ts'
import type { Config } from '../../../config.ts'
import type { KeyProvider, KeyProviderName } from '../cmek-types.ts'
import { openAwsKms } from './aws-kms.ts'
import { openLocalKeyring } from './local-keyring.ts'
import { openVaultTransit } from './vault-transit.ts'

/** Where customers' keys may be, as the operator has set it up. One that is not set up is missing. */
export type KeyProviders = Partial<Record<KeyProviderName, KeyProvider>>

/** Nothing is made or asked before the first use. */
export function openKeyProviders(
  config: Pick<Config, 'dataDir' | 'aws' | 'keyringDir' | 'vault'>,
  masterKey: Buffer,
): KeyProviders {
  const { region, kmsEndpoint, credentials } = config.aws
  return {
    local: openLocalKeyring(config.keyringDir ?? join(config.dataDir, 'keyring'), masterKey),
    'aws-kms': openAwsKms({ region, endpoint: kmsEndpoint, credentials }),
    ...(config.vault && { vault: openVaultTransit(config.vault) }),
  }
}

/** Throws DomainError `hub-unavailable` for one that the operator has not set up (any more). */
export function providerNamed(providers: KeyProviders, name: string): KeyProvider {
  const provider = Object.hasOwn(providers, name) ? providers[name as KeyProviderName] : undefined
  if (provider) return provider
  throw new DomainError('hub-unavailable', `The keys of this tenant are with ${name}, which is not set up here.`, {
    retryAfterSeconds: 60,
  })
}
