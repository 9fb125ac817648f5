"""Requests that meet a problem, and the same put right: what the pages under `/problems/` show."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """The part of a request that matters, wrong and right."""

    wrong: str
    right: str


_FRAUD = '{"fn": {"per": {"amount": 1}}, "fp": 5}'

EXAMPLES: dict[str, Example] = {
    "invalid": Example(
        '{"model": "Card Fraud", "dataset": "ds_…", "costs": {"fn": 5, "fp": 1}}',
        '{"model": "card-fraud", "dataset": "ds_…", "costs": {"fn": 5, "fp": 1}}',
    ),
    "malformed": Example("{'fn': 5, 'fp': NaN}", '{"fn": 5, "fp": 1}'),
    "unknown_parameter": Example("GET /v1/models?page=2", "GET /v1/models?limit=50&after=…"),
    "not_acceptable": Example(
        "GET /v1/datasets/ds_…/content\nAccept: application/pdf",
        "GET /v1/datasets/ds_…/content\nAccept: text/csv",
    ),
    "unsupported_media_type": Example(
        "curl http://127.0.0.1:8000/predict -d '{\"rows\": […]}'",
        "curl http://127.0.0.1:8000/predict -H 'Content-Type: application/json' -d '{\"rows\": […]}'",
    ),
    "foreign_origin": Example("curl http://my-laptop.lan:8000/livez", "curl http://127.0.0.1:8000/livez"),
    "precondition_required": Example(
        'PUT /v1/models/card-fraud/aliases/champion\n\n{"version": 8}',
        'PUT /v1/models/card-fraud/aliases/champion\nIf-Match: "3"\n\n{"version": 8}',
    ),
    "model_required": Example(
        '{"rows": [{"amount": 500}]}', '{"model": "card-fraud", "rows": [{"amount": 500}]}'
    ),
    "invalid_costs": Example('{"fn": 500, "fp": 10, "matrix": [[0, 1], [5, 0]]}', '{"fn": 500, "fp": 10}'),
    "unreasonable_costs": Example('{"fn": 5, "fp": 1, "tp": 8}', '{"fn": 15, "fp": 1, "tp": 8}'),
    "zero_costs": Example('{"fn": 0, "fp": 0}', '{"fn": 5, "fp": 1}'),
    "classes_mismatch": Example(
        '{"classes": ["no", "yes"], "matrix": [[0, 1], [5, 0]], "orientation": "rows_true"}',
        '{"classes": ["legit", "fraud"], "matrix": [[0, 1], [5, 0]], "orientation": "rows_true"}',
    ),
    "unserved_class": Example(
        '"actions": ["approve", "decline"]', '"actions": ["approve", {"name": "decline", "for": "fraud"}]'
    ),
    "cost_not_finite": Example(
        f'{{"rows": [{{"id": 1, "amount": null}}], "costs": {_FRAUD}}}',
        f'{{"rows": [{{"id": 1, "amount": 120}}], "costs": {_FRAUD}}}',
    ),
    "no_review_action": Example(
        '{"capacity": {"max": 400}, "costs": {"fn": 500, "fp": 10}}',
        '{"capacity": {"max": 400},\n'
        ' "costs": {"classes": ["legit", "fraud"],\n'
        '           "actions": ["legit", "fraud", {"name": "review", "kind": "review"}],\n'
        '           "costs": [{"true": "fraud", "action": "legit", "cost": 500}, '
        '{"true": "legit", "action": "fraud", "cost": 10}],\n'
        '           "review": {"fee": 3.5, "accuracy": {"legit": 0.99, "fraud": 0.95}}}}',
    ),
    "exclusive": Example('{"cost_spec": "cs_…", "costs": {"fn": 5, "fp": 1}}', '{"cost_spec": "cs_…"}'),
    "invalid_priors": Example(
        '{"priors": {"legit": 0.9, "fraud": 0.4}}', '{"priors": {"legit": 0.996, "fraud": 0.004}}'
    ),
    "not_binary": Example(
        '{"fn": 5, "fp": 1}',
        '{"classes": ["a", "b", "c"],\n "matrix": [[0, 1, 2], [5, 0, 1], [9, 3, 0]],\n'
        ' "orientation": "rows_true"}',
    ),
    "label_absent": Example(
        "curl -F file=@cards.csv http://127.0.0.1:8000/v1/datasets",
        "curl -F file=@cards.csv -F label=is_fraud http://127.0.0.1:8000/v1/datasets",
    ),
    "ragged_row": Example(
        "amount,country,label\n12.5,ch,0\n980,1", "amount,country,label\n12.5,ch,0\n980,,1"
    ),
    "csv_quote": Example('name,label\n"Bar "Zum Bären"",0', 'name,label\n"Bar ""Zum Bären""",0'),
    "unclosed_quote": Example('name,label\n"Bar,0\nKiosk,1', 'name,label\n"Bar",0\nKiosk,1'),
    "duplicate_header": Example("amount,amount,label", "amount,amount_before,label"),
    "not_finite": Example("amount,label\ninf,0", "amount,label\n,0"),
    "mixed_types": Example(
        "amount,label\n12.5,0\nunknown,1",
        'amount,label\n12.5,0\n,1\n\nor upload with types={"amount": "text"}',
    ),
    "wrong_type": Example('{"rows": [{"amount": "500"}]}', '{"rows": [{"amount": 500}]}'),
    "missing_column": Example(
        '{"rows": [{"amount": 500}]}',
        '{"rows": [{"amount": 500, "merchant": null}]}\n\nnull where it is not known',
    ),
    "missing_label": Example("amount,label\n12.5,0\n980,", "amount,label\n12.5,0\n980,1"),
    "invalid_param": Example('{"params": {"n_estimators": "many"}}', '{"params": {"n_estimators": 200}}'),
    "unknown_algorithm": Example('{"algorithm": "gradient boosting"}', '{"algorithm": "cgada"}'),
    "wrong_role": Example(
        'roles={"amount": "ignore"}   and costs   {"fn": {"per": {"amount": 1}}, "fp": 5}',
        'roles={"amount": "cost"}   and costs   {"fn": {"per": {"amount": 1}}, "fp": 5}',
    ),
}
