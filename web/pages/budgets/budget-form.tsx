import { Fieldset, MultiSelect, NumberInput, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import * as v from 'valibot'
import { budgetNameLengthMax, budgetRecipientsMax, budgetThresholdsMax, webhooksMax } from '../../../contract/limits.ts'
import { platforms } from '../../../contract/literals.ts'
import { api, type Body, hub } from '../../api/api-client.ts'
import { patchBody } from '../../api/patch-body.ts'
import { useSuggestions } from '../../components/filter-suggestions.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { SuggestedText } from '../../components/suggested-text.tsx'
import { useMutationForm } from '../../components/use-mutation-form.ts'
import type { Budget } from './budget-points.ts'

const schema = v.object({
  name: v.pipe(v.string(), v.trim(), v.minLength(1, 'Enter a name')),
  amount_usd: v.pipe(
    v.union([v.number(), v.string()]),
    v.check((amount) => Number(amount) > 0, 'Enter an amount above 0'),
  ),
})

const filterNames = {
  skill_id: 'Skill',
  archetype_id: 'Archetype',
  user_id: 'User',
  llm_platform: 'Platform',
  llm_model: 'Model',
} as const
type FilterName = keyof typeof filterNames
const filters = Object.keys(filterNames) as FilterName[]

type Values = ReturnType<typeof valuesOf>

/** Returns the values of the form; those of a new budget can be sent once an amount is entered. */
function valuesOf(budget: Budget | undefined) {
  return {
    name: budget?.name ?? 'All usage',
    amount_usd: (budget?.amount_usd ?? '') as number | string,
    period: budget?.period ?? 'month',
    basis: budget?.basis ?? 'reported',
    time_zone: budget?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    thresholds: (budget?.thresholds ?? [50, 80, 100]).map(String),
    emails: budget?.notify.emails ?? [],
    webhook_ids: budget?.notify.webhook_ids ?? [],
    ...(Object.fromEntries(filters.map((name) => [name, budget?.filter[name] ?? ''])) as Record<FilterName, string>),
  }
}

function bodyOf(values: Values): Body<'createBudget'> {
  const { name, amount_usd, period, basis, time_zone, thresholds, emails, webhook_ids } = values
  const given = filters.filter((each) => values[each].trim() !== '')
  return {
    ...{ name: name.trim(), amount_usd: Number(amount_usd), period, basis, time_zone },
    thresholds: thresholds.map(Number).sort((a, b) => a - b),
    filter: Object.fromEntries(given.map((each) => [each, values[each].trim()])),
    notify: { emails, webhook_ids },
  }
}

/** Creates a budget, or changes one. */
export function BudgetForm({ budget, onClose }: { budget?: Budget | undefined; onClose(): void }) {
  const webhooks = api.useQuery('get', '/api/v1/webhooks', { params: { query: { limit: webhooksMax } } })
  const tenant = api.useQuery('get', '/api/v1/tenant')
  const form = useMutationForm({
    initialValues: valuesOf(budget),
    schema,
    send: (values, opened) => (budget ? change(budget, values, opened) : create(values)),
    fieldOf: (member) => (member === 'notify' ? 'emails' : undefined),
    refresh: ['/api/v1/budgets'],
    onDone: onClose,
  })
  const input = form.getInputProps
  const [wanted, setWanted] = useState(false)
  const given = { ...useSuggestions(wanted), llm_platform: platforms, llm_model: [] }
  const endpoints = (webhooks.data?.items ?? []).map(({ webhook_id, url, description }) => {
    return { value: webhook_id, label: description ?? url }
  })
  return (
    <MutationForm
      form={form}
      submit={budget ? 'Save changes' : 'Add budget'}
      failed={budget ? 'The budget was not changed' : 'The budget was not added'}
      onCancel={onClose}
    >
      <NumberInput
        label="Amount for each period"
        prefix="$"
        min={0}
        decimalScale={6}
        thousandSeparator=","
        required
        data-autofocus
        {...input('amount_usd')}
      />
      <Select
        label="Period"
        allowDeselect={false}
        data={[
          { value: 'day', label: 'Day' },
          { value: 'week', label: 'Week, from Monday' },
          { value: 'month', label: 'Month' },
        ]}
        {...input('period')}
      />
      <TextInput label="Name" maxLength={budgetNameLengthMax} required {...input('name')} />
      <TagsInput
        label="E-mail"
        description={
          tenant.data?.mail_server === false
            ? 'This Hub has no mail server, so it mails nothing. Its operator sets HUB_SMTP_URL.'
            : 'Addresses that receive an e-mail at each threshold'
        }
        maxTags={budgetRecipientsMax}
        acceptValueOnBlur
        {...input('emails')}
      />
      {(endpoints.length > 0 || form.values.webhook_ids.length > 0) && (
        <MultiSelect
          label="Webhooks"
          description="Endpoints that receive budget.threshold_reached"
          data={endpoints}
          maxValues={budgetRecipientsMax}
          {...input('webhook_ids')}
        />
      )}
      <TagsInput
        label="Thresholds"
        description="Percent of the amount"
        maxTags={budgetThresholdsMax}
        acceptValueOnBlur
        {...input('thresholds')}
      />
      <Fieldset legend="Filter">
        <Stack gap="sm">
          {filters.map((name) => (
            <SuggestedText
              key={name}
              {...{ label: filterNames[name], placeholder: 'All', given: given[name], field: input(name) }}
              suggested={name === 'llm_platform' ? undefined : name}
              onWanted={() => setWanted(true)}
            />
          ))}
        </Stack>
      </Fieldset>
      <Select
        label="Cost"
        allowDeselect={false}
        data={[
          { value: 'reported', label: 'Reported cost' },
          { value: 'calculated', label: 'Calculated cost' },
        ]}
        {...input('basis')}
      />
      <TextInput label="Time zone" {...input('time_zone')} />
    </MutationForm>
  )
}

function create(values: Values) {
  return hub.POST('/api/v1/budgets', { body: bodyOf(values) })
}

function change({ budget_id }: Budget, values: Values, opened: Values) {
  const body: Body<'updateBudget'> = patchBody(bodyOf(values), bodyOf(opened))
  return hub.PATCH('/api/v1/budgets/{budget_id}', { params: { path: { budget_id } }, body })
}
