import { useQuery } from '@tanstack/react-query'
import type { JsonObject } from '../../provenance/index.ts'
import { useMe } from '../api/me.ts'
import { browserCrypto, NoCrypto } from './browser-crypto.ts'
import { hubSource } from './hub-source.ts'
import { forgetTrust, type Store } from './trust-store.ts'
import { logKeys, type Verifier, verifyInBrowser } from './verify-record.ts'

/** The store of a browser without storage: it ends with the page. */
const memory = new Map<string, string>()
const inMemory: Store = {
  getItem: (name) => memory.get(name) ?? null,
  setItem: (name, value) => void memory.set(name, value),
  removeItem: (name) => void memory.delete(name),
}

function storage(): Store {
  try {
    return window.localStorage ?? inMemory
  } catch {
    return inMemory
  }
}

/** Returns a verifier. Throws NoCrypto if the page may not use cryptography. */
export async function verifierOf(tenant: string): Promise<Verifier> {
  return { tenant, source: hubSource, store: storage(), crypto: await browserCrypto() }
}

const patience = { retry: (failures: number, error: unknown) => !(error instanceof NoCrypto) && failures < 2 }

/** Returns the keys of the tenant's log, and which of them this browser trusts. */
export function useLogKeys() {
  const { tenant } = useMe()
  return useQuery({
    queryKey: ['verification', tenant, 'keys'],
    queryFn: async () => logKeys(await verifierOf(tenant)),
    structuralSharing: false,
    ...patience,
  })
}

/** Returns the verification of a record by this browser, repeated whenever the record is read again. */
export function useVerification(recordId: string, record: JsonObject, readAt: number) {
  const { tenant } = useMe()
  return useQuery({
    queryKey: ['verification', tenant, recordId, readAt],
    queryFn: async ({ client, queryKey }) =>
      verifyInBrowser(await verifierOf(tenant), record, recordId, (sofar) => client.setQueryData(queryKey, sofar)),
    structuralSharing: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    ...patience,
  })
}

/** Deletes the stored keys and state of the tenant's log: the next verification trusts on first use again. */
export function forgetLog(tenant: string): void {
  forgetTrust(storage(), tenant)
}
