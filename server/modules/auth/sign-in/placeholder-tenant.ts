/**
 * Stands in for a tenant that does not exist: a read there takes as long and finds nothing. The result is not used, so
 * a tenant of this very name is not exposed.
 */
export const placeholderTenant = { slug: 'unknown-tenant' } as const
