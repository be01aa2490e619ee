/**
 * Stands in for a tenant that does not exist: looking there takes as long, and finds nothing. A tenant of this very name
 * would not be found by it, for what is found there is not used.
 */
export const placeholderTenant = { slug: 'unknown-tenant' } as const
