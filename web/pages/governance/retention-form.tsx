import { Box, Button, Group, NumberInput, Paper, Switch, Table, Text } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useState } from 'react'
import { hub } from '../../api/api-client.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { fieldErrors } from '../../components/field-errors.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { RecordTypeBadge, recordTypeLooks } from '../../components/record-type.tsx'
import { EarlyPurgeWarnings } from './early-purge-warnings.tsx'
import { RetentionChanges } from './retention-changes.tsx'
import {
  changesOf,
  type RetentionRules,
  type RetentionValues,
  retentionValues,
  rulesOf,
  valuesOf,
} from './retention-rules.ts'

const fourEyes = 'Who released a governance event, or a hold over a record, may not purge that record.'

interface RetentionFormProps {
  kept: RetentionRules
  mayChange: boolean
}

export function RetentionForm({ kept, mayChange }: RetentionFormProps) {
  const [asked, setAsked] = useState<RetentionValues>()
  const form = useForm<RetentionValues>({
    initialValues: valuesOf(kept),
    validate: schemaResolver(retentionValues, { sync: true }),
  })

  async function replace(values: RetentionValues = form.values) {
    const body = rulesOf(values)
    // The body has no rule for a row without limits.
    const fieldOf = (member: string) => {
      const [, at, limit] = /^rules\.(\d+)\.(\w+)$/.exec(member) ?? []
      const row = values.rules.findIndex(({ record_type }) => record_type === body.rules[Number(at)]?.record_type)
      return limit && `rules.${row}.${limit}`
    }
    await hub.PUT('/api/v1/hub/retention-rules', { body }).catch((error: unknown) => {
      form.setErrors(fieldErrors(error, values, fieldOf).atFields)
      throw error
    })
  }

  const limit = (index: number, member: 'min_days' | 'max_days', name: string) => (
    <NumberInput
      aria-label={name}
      placeholder={member === 'min_days' ? 'any age' : 'no limit'}
      allowDecimal={false}
      allowNegative={false}
      thousandSeparator
      hideControls
      readOnly={!mayChange}
      variant={mayChange ? 'default' : 'unstyled'}
      suffix=" days"
      w={{ base: 108, sm: 150 }}
      {...form.getInputProps(`rules.${index}.${member}`)}
    />
  )

  return (
    <>
      <MutationForm
        form={{ ...form, submit: form.onSubmit(setAsked), busy: false, error: null, elsewhere: [] }}
        submit="Save rules"
        buttons={
          mayChange && (
            <Group>
              <Button type="submit" disabled={!form.isDirty()}>
                Save rules
              </Button>
              {form.isDirty() && (
                <Button variant="default" onClick={form.reset}>
                  Discard changes
                </Button>
              )}
            </Group>
          )
        }
      >
        <Paper withBorder style={{ overflowX: 'auto' }} tabIndex={0} role="group" aria-label="Retention rules">
          <Table verticalSpacing="sm" aria-label="Retention rules">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Records</Table.Th>
                <Table.Th scope="col">Minimum retention</Table.Th>
                <Table.Th scope="col">Maximum retention</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {form.values.rules.map(({ record_type }, index) => (
                <Table.Tr key={record_type}>
                  <Table.Th scope="row">
                    <Box visibleFrom="sm">
                      <RecordTypeBadge type={record_type} />
                    </Box>
                    <Text size="xs" fw={500} hiddenFrom="sm">
                      {recordTypeLooks[record_type].label}
                    </Text>
                  </Table.Th>
                  <Table.Td>
                    {limit(index, 'min_days', `${recordTypeLooks[record_type].plural} are kept at least, in days`)}
                  </Table.Td>
                  <Table.Td>
                    {record_type === 'governance_event' ? (
                      <Text size="sm" c="dimmed">
                        never by a rule
                      </Text>
                    ) : (
                      limit(index, 'max_days', `${recordTypeLooks[record_type].plural} are purged after, in days`)
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Paper>
        <EarlyPurgeWarnings rules={form.values.rules} />
        <Text size="sm" c="dimmed">
          Nobody can purge a record before its minimum retention. The Hub purges a record within an hour after its
          maximum retention. It can be restored for 30 days, but the next run purges it again while the rule stands.
          Governance events are purged by hand only, after a release.
        </Text>
        {mayChange ? (
          <Switch label="Four eyes" description={fourEyes} {...form.getInputProps('four_eyes', { type: 'checkbox' })} />
        ) : (
          <Text size="sm">
            Four eyes: {form.values.four_eyes ? 'on' : 'off'}. {fourEyes}
          </Text>
        )}
      </MutationForm>
      <ConfirmDialog
        opened={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title="Change the retention rules?"
        confirmLabel="Change rules"
        danger={asked && changesOf(valuesOf(kept), asked).some(({ purgesOver }) => purgesOver !== undefined)}
        failed="The rules were not changed"
        send={() => replace(asked)}
        done="The retention rules are changed."
        refresh={['/api/v1/hub/retention-rules']}
      >
        {asked && <RetentionChanges before={valuesOf(kept)} after={asked} />}
      </ConfirmDialog>
    </>
  )
}
