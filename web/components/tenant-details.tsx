import { Box, Button, Paper, TextInput, Title } from '@mantine/core'
import { useEffect } from 'react'
import * as v from 'valibot'
import { displayNameLengthMax } from '../../contract/limits.ts'
import { type ApiResponse, hub } from '../api/api-client.ts'
import { Notice } from '../ui/notice.tsx'
import { MutationForm } from './mutation-form.tsx'
import { useMutationForm } from './use-mutation-form.ts'

type Tenant = ApiResponse<'getTenant'>

const tenantPath = '/api/v1/tenant'

const schema = v.object({
  display_name: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'Enter the organisation name'),
    v.maxLength(displayNameLengthMax, `At most ${displayNameLengthMax} characters`),
  ),
  contact_email: v.union([v.literal(''), v.pipe(v.string(), v.trim(), v.email('Give a whole address, or nothing'))]),
})

const valuesOf = ({ display_name, contact_email = '' }: Tenant) => ({ display_name, contact_email })
type Values = ReturnType<typeof valuesOf>
const isSame = (one: Values, other: Values) =>
  one.display_name === other.display_name && one.contact_email === other.contact_email

/** Edits the tenant's details. The Hub replaces them as a whole, so concurrent changes are shown first. */
export function TenantDetails({ tenant }: { tenant: Tenant }) {
  const stored = valuesOf(tenant)
  const form = useMutationForm({
    initialValues: stored,
    schema,
    send: async ({ display_name, contact_email }): Promise<{ data?: Tenant }> => {
      const { data: now } = await hub.GET(tenantPath, {})
      // The form shows what changed meanwhile, once it is read again.
      if (now && !isSame(valuesOf(now), stored)) return {}
      return hub.PUT(tenantPath, {
        body: { display_name: display_name.trim(), contact_email: contact_email.trim() || null },
      })
    },
    done: (saved) => saved && (tenant.confirmed_at ? 'The details are saved.' : 'The details are confirmed.'),
    refresh: [tenantPath],
    onDone: (saved) => saved && beginWith(valuesOf(saved)),
  })
  /** The stored details if they differ from the form's initial values; the user sees them before saving. */
  const meanwhile = !form.busy && !isSame(stored, form.getInitialValues()) ? stored : undefined
  const isDirty = form.isDirty()

  function beginWith(values: Values) {
    form.setInitialValues(values)
    form.setValues(values)
    form.clearErrors()
    form.clearFailure()
  }
  // Without input there is nothing to lose.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the form and the values from the tenant are new in each render
  useEffect(() => {
    if (meanwhile && !isDirty) beginWith(meanwhile)
  }, [tenant, form.busy, isDirty])

  return (
    <Paper withBorder p="md" component="section" aria-labelledby="details">
      <Box maw="32rem">
        <MutationForm
          form={form}
          submit={tenant.confirmed_at ? 'Save changes' : 'Confirm details'}
          failed="The details were not saved"
          disabled={!isDirty && tenant.confirmed_at !== undefined}
        >
          <Title order={2} id="details">
            {tenant.confirmed_at ? 'Details' : 'First, confirm the details of the tenant'}
          </Title>
          {!tenant.confirmed_at && (
            <Notice kind="info" title="Not confirmed yet">
              {`Review and confirm the details: it is the first step of onboarding. ${tenant.tenant} runs in mode ${tenant.mode}: ${modes[tenant.mode]} Its operator chose this.`}
            </Notice>
          )}
          <TextInput label="Name of the organisation" required {...form.getInputProps('display_name')} />
          <TextInput
            label="Contact address"
            description="Whom the operator writes to about this tenant"
            type="email"
            {...form.getInputProps('contact_email')}
          />
          {meanwhile && isDirty && (
            <Notice
              kind="warning"
              title="Somebody changed the details meanwhile"
              urgent
              actions={
                <Button size="xs" variant="default" onClick={() => beginWith(meanwhile)}>
                  Take these
                </Button>
              }
            >
              {`The name is now “${meanwhile.display_name}”, the contact address ${meanwhile.contact_email ? `“${meanwhile.contact_email}”` : 'empty'}. Saving replaces both with what stands above.`}
            </Notice>
          )}
        </MutationForm>
      </Box>
    </Paper>
  )
}

const modes = {
  A: 'the Hub keeps content under its own key.',
  B: 'content is kept under a key of the organisation, which can be withdrawn.',
  C: 'no content is kept, only figures about it.',
} as const
