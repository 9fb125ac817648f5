"""Refusals and failures below the pages: whoever looks at a page is answered with one."""

from sqlalchemy import update

from service.db.tables import CostSpecRow
from tests.service.conftest import Service
from tests.service.ui.conftest import address, key


def test_an_unexpected_failure_is_a_page_that_says_what_to_do(locked: Service) -> None:
    token = key(locked, "admin", tenant="damaged")
    body = {"name": "damaged", "fn": 2, "fp": 1}
    made = locked.http.post("/v1/cost-specs", json=body, headers={"Authorization": f"Bearer {token}"}).json()
    with locked.wiring.sessions.begin() as session:
        session.execute(update(CostSpecRow).where(CostSpecRow.id == made["id"]).values(spec={"no": "costs"}))
    headers = {"Cookie": f"costboost_key={token}", "X-Request-ID": "to-be-found"}
    for path in ("/ui/costs", f"/ui/costs/{made['id']}"):
        answer = locked.http.get(path, headers=headers)
        assert answer.status_code == 500
        assert answer.headers["content-type"].startswith("text/html")
        assert "Something went wrong here" in answer.text
        assert "What to do" in answer.text
        assert "request <code>to-be-found</code>" in answer.text
    part = locked.http.get("/ui/costs", headers={**headers, "HX-Request": "true"})
    assert (part.status_code, "<html" in part.text, "What to do" in part.text) == (500, False, True)
    assert locked.http.head("/ui/costs", headers=headers).status_code == 500


def test_what_a_layer_refuses_is_a_page_too(locked: Service) -> None:
    own = {"Origin": address(locked)}
    for answer, status in (
        (locked.http.put("/ui/sign-in", headers=own), 405),
        (locked.http.get("/ui/costs/%00"), 400),
        (locked.http.post("/ui/sign-in", content=b"x" * (1 << 21), headers=own), 413),
    ):
        assert answer.status_code == status
        assert answer.headers["content-type"].startswith("text/html")
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert "What to do" in answer.text
    assert "POST" in locked.http.put("/ui/sign-in", headers=own).headers["allow"]
    assert locked.http.get("/v1/nowhere").headers["content-type"] == "application/problem+json"
