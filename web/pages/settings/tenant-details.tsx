import { Button, Group, Paper, Stack, TextInput, Title } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useEffect, useState } from 'react'
import * as v from 'valibot'
import { displayNameLengthMax } from '../../../contract/limits.ts'
import { type ApiResponse, hub } from '../../api/api-client.ts'
import { fieldErrors } from '../../api/problem.ts'
import { queryClient } from '../../api/query-client.ts'
import { notifyDone } from '../../components/notify.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { Notice } from '../../ui/notice.tsx'

type Tenant = ApiResponse<'getTenant'>

const tenantKey = ['get', '/api/v1/tenant']

const schema = v.object({
  display_name: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'Enter the organisation name'),
    v.maxLength(displayNameLengthMax, `At most ${displayNameLengthMax} characters`),
  ),
  contact_email: v.union([v.literal(''), v.pipe(v.string(), v.trim(), v.email())], 'Give a whole address, or nothing'),
})

const valuesOf = ({ display_name, contact_email = '' }: Tenant) => ({ display_name, contact_email })
type Values = ReturnType<typeof valuesOf>
const isSame = (one: Values, other: Values) =>
  one.display_name === other.display_name && one.contact_email === other.contact_email

/** Edits the tenant's details. The Hub replaces them as a whole, so concurrent changes are shown first. */
export function TenantDetails({ tenant }: { tenant: Tenant }) {
  const stored = valuesOf(tenant)
  const form = useForm({ initialValues: stored, validate: schemaResolver(schema, { sync: true }) })
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  /** The stored details if they differ from the form's initial values; the user sees them before saving. */
  const meanwhile = !busy && !isSame(stored, form.getInitialValues()) ? stored : undefined
  const isDirty = form.isDirty()

  function beginWith(values: Values) {
    form.setInitialValues(values)
    form.setValues(values)
    form.clearErrors()
    setFailure(undefined)
  }
  // Without input there is nothing to lose.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the form and the values from the tenant are new in each render
  useEffect(() => {
    if (meanwhile && !isDirty) beginWith(meanwhile)
  }, [tenant, busy, isDirty])

  async function save() {
    setBusy(true)
    setFailure(undefined)
    const display_name = form.values.display_name.trim()
    const contact_email = form.values.contact_email.trim()
    try {
      const { data: now } = await hub.GET('/api/v1/tenant', {})
      if (now && !isSame(valuesOf(now), stored)) return await queryClient.invalidateQueries({ queryKey: tenantKey })
      await hub.PUT('/api/v1/tenant', { body: { display_name, contact_email: contact_email || null } })
      await queryClient.invalidateQueries({ queryKey: tenantKey })
      beginWith({ display_name, contact_email })
      notifyDone(tenant.confirmed_at ? 'The details are saved.' : 'The details are confirmed.')
    } catch (error) {
      form.setErrors(fieldErrors(error))
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Paper withBorder p="md" component="section" aria-labelledby="details">
      <form onSubmit={form.onSubmit(() => void save())} noValidate>
        <Stack maw="32rem">
          <Title order={2} id="details">
            Details
          </Title>
          {!tenant.confirmed_at && (
            <Notice kind="info" title="Not confirmed yet">
              Look through the details and confirm them: it is the first step of onboarding.
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
          {failure !== undefined && (
            <ProblemNotice
              error={failure}
              title="The details were not saved"
              shownAtFields={Object.keys(form.errors)}
            />
          )}
          <Group>
            <Button type="submit" loading={busy} disabled={!isDirty && tenant.confirmed_at !== undefined}>
              {tenant.confirmed_at ? 'Save changes' : 'Confirm details'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  )
}
