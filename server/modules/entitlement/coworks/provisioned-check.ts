import { DomainError } from '../../../../contract/domain-error.ts'
import type { ProvisionedCheck } from '../entitlement-types.ts'

/** For a service on which no content key can be set up: Mode B then takes no records. */
export const withoutContentKeys: ProvisionedCheck = async (_tx, tenant) => {
  if (tenant.mode !== 'B') return
  throw new DomainError(
    'hub-not-provisioned',
    'A tenant in Mode B takes records once POST /api/v1/hub/provision has set up its encryption key.',
  )
}
